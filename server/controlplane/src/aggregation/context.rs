//! The parts of a server that the controllers of APIServices use.

use std::sync::Arc;

use endpoints::Discovery;
use options::AggregationOptions;
use registry::{Clock, Informers};
use serving::health::Health;
use telemetry::metrics::Metrics;
use webhook::Services;

/// The parts of a server that the controllers of APIServices use.
pub struct AggregationContext<'a> {
    pub informers: &'a Informers,
    pub discovery: &'a Arc<Discovery>,
    /// Connects to the aggregated servers.
    pub services: &'a Arc<Services>,
    pub options: &'a AggregationOptions,
    pub clock: &'a Arc<dyn Clock>,
    pub health: &'a Health,
    pub metrics: &'a Metrics,
}
