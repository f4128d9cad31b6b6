//! The webhooks that convert objects, and their metrics.

use std::sync::Arc;

use ::webhook::Services;

use super::metrics::Metrics;

/// Dependencies of webhook calls.
pub struct Calls {
    pub(super) services: Arc<Services>,
    pub(super) metrics: Metrics,
}

impl Calls {
    /// Creates the dependencies and registers the metrics.
    pub fn new(services: Arc<Services>, registry: &prometheus::Registry) -> Self {
        Calls { services, metrics: Metrics::new(registry) }
    }
}
