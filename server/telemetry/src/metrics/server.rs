//! All metrics of a server.

use machinery::features::FeatureGates;
use prometheus::{IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Registry};

use super::access::AccessMetrics;
use super::connections::ConnectionMetrics;
use super::parts::PartMetrics;
use super::process::ProcessMetrics;
use super::register::{counters, gauges};
use super::requests::RequestMetrics;
use super::streams::StreamMetrics;
use super::work_queue::{WorkQueue, WorkQueues};
use super::{cel, credentials, state};

/// The metrics of a server. Clones share them. Other components register theirs in the registry.
#[derive(Clone)]
pub struct Metrics {
    registry: Registry,
    pub requests: RequestMetrics,
    pub access: AccessMetrics,
    pub parts: PartMetrics,
    pub streams: StreamMetrics,
    pub connections: ConnectionMetrics,
    in_flight: IntGaugeVec,
    in_queue: IntGaugeVec,
    dropped: IntCounterVec,
    work_queues: WorkQueues,
    /// Failed TLS handshakes.
    pub tls_errors: IntCounter,
}

impl Default for Metrics {
    fn default() -> Self {
        let registry = Registry::new();
        let kind = &["request_kind"];
        state::register(&registry);
        cel::register(&registry);
        credentials::register(&registry);
        webhook::metrics::register(&registry);
        if let Ok(process) = ProcessMetrics::new() {
            // Registration fails only for duplicate names.
            let _ = registry.register(Box::new(process));
        }
        Metrics {
            requests: RequestMetrics::new(&registry),
            access: AccessMetrics::new(&registry),
            parts: PartMetrics::new(&registry),
            streams: StreamMetrics::new(&registry),
            connections: ConnectionMetrics::new(&registry),
            in_flight: gauges(
                &registry,
                "apiserver_current_inflight_requests",
                "Number of requests in progress, by kind.",
                kind,
            ),
            in_queue: gauges(
                &registry,
                "apiserver_current_inqueue_requests",
                "Number of waiting requests, by kind.",
                kind,
            ),
            dropped: counters(
                &registry,
                "apiserver_dropped_requests_total",
                "Number of requests rejected because of overload, by kind.",
                kind,
            ),
            work_queues: WorkQueues::new(&registry),
            tls_errors: counters(
                &registry,
                "apiserver_tls_handshake_errors_total",
                "Number of failed TLS handshakes.",
                &[],
            )
            .with_label_values::<&str>(&[]),
            registry,
        }
    }
}

impl Metrics {
    /// The registry, for the metrics of other components.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Registers the states of the feature gates.
    pub fn show_features(&self, features: &FeatureGates) {
        state::show_features(&self.registry, features);
    }

    /// The metrics of a work queue with this name.
    pub fn work_queue(&self, name: &str) -> WorkQueue {
        self.work_queues.of(name)
    }

    /// The gauge of executing requests of a kind, `readOnly` or `mutating`.
    pub fn in_flight(&self, kind: &str) -> IntGauge {
        self.in_flight.with_label_values(&[kind])
    }

    /// The gauge of queued requests of a kind.
    pub fn in_queue(&self, kind: &str) -> IntGauge {
        self.in_queue.with_label_values(&[kind])
    }

    /// The counter of rejected requests of a kind.
    pub fn dropped(&self, kind: &str) -> IntCounter {
        self.dropped.with_label_values(&[kind])
    }
}
