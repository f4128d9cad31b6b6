//! Objects between the versions of a definition (upstream: `apiextensions-apiserver/pkg/apiserver/conversion`).

mod expressions;
mod metadata;
mod metrics;
mod moves;
mod review;
mod webhook;

use std::sync::Arc;

use ::webhook::Services;
use apimachinery::apiextensions::v1::CustomResourceDefinition;
use machinery::status::Status;
use serde_json::{Map, Value};

pub use expressions::{EXPRESSIONS, Expressions};
use metrics::Metrics;
pub use moves::{FIELD_MOVES, Moves};
use moves::{put, take};
pub use webhook::Webhook;

/// How objects get from one version to another, before schemas drop what they do not know.
pub enum Conversion {
    /// Their `apiVersion` changes, and the fields that the definition says: none unless it says some.
    Fields(Fields),
    /// Another server converts them.
    Webhook(Webhook),
}

/// What webhooks are called with.
pub struct Calls {
    services: Arc<Services>,
    metrics: Metrics,
}

impl Calls {
    /// Calls webhooks, and counts that.
    pub fn new(services: Arc<Services>, registry: &prometheus::Registry) -> Self {
        Calls { services, metrics: Metrics::new(registry) }
    }
}

impl Conversion {
    /// What a definition says.
    pub fn of(definition: &CustomResourceDefinition, calls: &Arc<Calls>) -> Self {
        Webhook::of(definition, calls).map_or_else(|| Conversion::Fields(Fields::of(definition)), Conversion::Webhook)
    }
}

/// Fields that stand elsewhere in another version, or are made of others.
#[derive(Default)]
pub struct Fields {
    moves: Moves,
    expressions: Expressions,
}

impl Fields {
    fn of(definition: &CustomResourceDefinition) -> Self {
        let said = |name: &str| definition.metadata.annotations.get(name);
        // Others were refused when the definition was written.
        let expressions = said(EXPRESSIONS).and_then(|text| Expressions::compile(text, definition).ok());
        Fields {
            moves: said(FIELD_MOVES).and_then(|text| Moves::parse(text).ok()).unwrap_or_default(),
            expressions: expressions.unwrap_or_default(),
        }
    }

    /// Whether all fields stay as and where they are.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty() && self.expressions.is_empty()
    }

    /// Makes the fields of an object of one version, told by its name, those of another. Expressions see them as they were before any moved. What
    /// has no place in the other version stays, for the schema to drop.
    ///
    /// # Errors
    /// When an expression fails.
    pub fn convert(&self, object: &mut Map<String, Value>, from: &str, to: &str) -> Result<(), Status> {
        let tree = Value::Object(std::mem::take(object));
        let made = self.expressions.evaluate(&tree, from, to);
        if let Value::Object(members) = tree {
            *object = members;
        }
        let made = made.map_err(|why| Status::new(500, "", format!("conversion from {from} to {to} failed: {why}")))?;
        self.moves.apply(object, from, to);
        for (path, value) in made {
            match value {
                Value::Null => drop(take(object, path)),
                value => put(object, path, value),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
