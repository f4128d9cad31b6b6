//! Conversion of objects between versions of a definition (upstream:
//! `apiextensions-apiserver/pkg/apiserver/conversion`).

mod calls;
mod expressions;
mod metadata;
mod metrics;
mod moves;
mod review;
mod webhook;

use std::sync::Arc;

use apimachinery::apiextensions::v1::CustomResourceDefinition;
use machinery::status::Status;
use serde_json::{Map, Value};

pub use calls::Calls;
pub use expressions::{EXPRESSIONS, Expressions};
pub use moves::{FIELD_MOVES, Moves};
use moves::{put, take};
pub use webhook::WebhookConverter;

/// The conversion strategy of a definition. Pruning runs after it.
pub enum ConversionStrategy {
    /// Sets `apiVersion`, and converts the fields that annotations of the definition declare, if
    /// any.
    Fields(FieldConversion),
    /// Calls a webhook.
    Webhook(WebhookConverter),
}

impl ConversionStrategy {
    /// Returns the conversion of a definition.
    pub fn of(definition: &CustomResourceDefinition, calls: &Arc<Calls>) -> Self {
        WebhookConverter::of(definition, calls)
            .map_or_else(|| ConversionStrategy::Fields(FieldConversion::of(definition)), ConversionStrategy::Webhook)
    }
}

/// Fields that differ between versions: moved ones and computed ones.
#[derive(Default)]
pub struct FieldConversion {
    moves: Moves,
    expressions: Expressions,
}

impl FieldConversion {
    fn of(definition: &CustomResourceDefinition) -> Self {
        let annotation = |name: &str| definition.metadata.annotations.get(name);
        // The definition was validated when it was written, so errors are ignored.
        let expressions = annotation(EXPRESSIONS).and_then(|text| Expressions::compile(text, definition).ok());
        FieldConversion {
            moves: annotation(FIELD_MOVES).and_then(|text| Moves::parse(text).ok()).unwrap_or_default(),
            expressions: expressions.unwrap_or_default(),
        }
    }

    /// Whether there are no declared fields.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty() && self.expressions.is_empty()
    }

    /// Converts the fields of an object between two versions, given by name. Expressions see the
    /// object before any move. A field without a counterpart stays; pruning removes it.
    ///
    /// # Errors
    /// Returns the error of a failed expression.
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
