//! Metrics of aggregated discovery documents (upstream: `discovery/aggregated/metrics.go`).

use prometheus::{IntCounter, Registry};

/// Counters. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct DiscoveryCounts {
    /// Documents built of this server and the servers behind it.
    pub made: IntCounter,
    /// Cache hits for documents of all servers of the cluster; `missed` counts the misses.
    pub kept: IntCounter,
    pub missed: IntCounter,
    /// Requests for the resources of this server alone.
    pub alone: IntCounter,
}

impl Default for DiscoveryCounts {
    fn default() -> Self {
        let counter = |name: &str, help: &str| {
            IntCounter::new(format!("aggregator_discovery_{name}_total"), help).expect("a well-formed metric")
        };
        DiscoveryCounts {
            made: counter("aggregation_count", "Number of times that the aggregated discovery document was built."),
            kept: counter(
                "peer_aggregated_cache_hits",
                "Number of cache hits for the merged discovery document of all API servers.",
            ),
            missed: counter(
                "peer_aggregated_cache_misses",
                "Number of cache misses for the merged discovery document of all API servers.",
            ),
            alone: counter(
                "nopeer_requests",
                "Number of discovery requests for the resources of this API server alone.",
            ),
        }
    }
}

impl DiscoveryCounts {
    pub(super) fn register(&self, registry: &Registry) {
        for counter in [&self.made, &self.kept, &self.missed, &self.alone] {
            // Fails only for a name that is already registered.
            let _ = registry.register(Box::new(counter.clone()));
        }
    }
}
