//! How often documents of all groups at once are made and asked for (upstream: `discovery/aggregated/metrics.go`).

use prometheus::{IntCounter, Registry};

/// The counts. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    /// Documents of this server, and of those behind it, that were made.
    pub made: IntCounter,
    /// Documents of all servers of the cluster that were there, and those that had to be made.
    pub kept: IntCounter,
    pub missed: IntCounter,
    /// Requests for what this server serves alone.
    pub alone: IntCounter,
}

impl Default for Counts {
    fn default() -> Self {
        let counter = |name: &str, help: &str| {
            IntCounter::new(format!("aggregator_discovery_{name}_total"), help).expect("a well-formed metric")
        };
        Counts {
            made: counter("aggregation_count", "How often the discovery document of all groups was made."),
            kept: counter(
                "peer_aggregated_cache_hits",
                "How often what all API servers serve was known when asked for.",
            ),
            missed: counter(
                "peer_aggregated_cache_misses",
                "How often what all API servers serve had to be put together.",
            ),
            alone: counter("nopeer_requests", "How often it was asked what this API server serves, without others."),
        }
    }
}

impl Counts {
    pub(super) fn register(&self, registry: &Registry) {
        for counter in [&self.made, &self.kept, &self.missed, &self.alone] {
            // Only a name that is registered twice is refused.
            let _ = registry.register(Box::new(counter.clone()));
        }
    }
}
