//! Objects between the versions of a definition (upstream: `apiextensions-apiserver/pkg/apiserver/conversion`).

mod metadata;
mod metrics;
mod review;
mod webhook;

use std::sync::Arc;

use ::webhook::Services;
use apimachinery::apiextensions::v1::CustomResourceDefinition;

use metrics::Metrics;
pub use webhook::Webhook;

/// How objects get from one version to another, before schemas drop what they do not know.
pub enum Conversion {
    /// Only their `apiVersion` changes.
    Rename,
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
        Webhook::of(definition, calls).map_or(Conversion::Rename, Conversion::Webhook)
    }
}

#[cfg(test)]
mod tests;
