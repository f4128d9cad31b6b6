//! Objects between the versions of a definition (upstream: `apiextensions-apiserver/pkg/apiserver/conversion`).

mod metadata;
mod metrics;
mod moves;
mod review;
mod webhook;

use std::sync::Arc;

use ::webhook::Services;
use apimachinery::apiextensions::v1::CustomResourceDefinition;

use metrics::Metrics;
pub use moves::{FIELD_MOVES, Moves};
pub use webhook::Webhook;

/// How objects get from one version to another, before schemas drop what they do not know.
pub enum Conversion {
    /// Their `apiVersion` changes, and fields move: none unless the definition says so.
    Moves(Moves),
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
        let moves = || {
            let said = definition.metadata.annotations.get(FIELD_MOVES);
            // Others were refused when the definition was written.
            said.and_then(|text| Moves::parse(text).ok()).unwrap_or_default()
        };
        Webhook::of(definition, calls).map_or_else(|| Conversion::Moves(moves()), Conversion::Webhook)
    }
}

#[cfg(test)]
mod tests;
