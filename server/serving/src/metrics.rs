//! The metrics of the server (`/metrics`), under upstream's names.

mod access;
mod allowed;
pub mod cel;
mod connections;
pub mod credentials;
pub(crate) mod exposition;
mod labels;
mod parts;
mod process;
mod protobuf;
mod requests;
pub(crate) mod reset;
pub mod shared;
mod state;
mod streams;
mod text;
mod watches;
mod work_queue;

use machinery::features::FeatureGates;
use prometheus::core::Collector;
use prometheus::{
    Gauge, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
};

pub use access::AccessMetrics;
pub use connections::ConnectionMetrics;
pub use exposition::MetricsHandler;
pub use labels::Routed;
pub use parts::PartMetrics;
use process::ProcessMetrics;
pub(crate) use requests::Terminated;
pub use requests::{Delayed, RequestMetrics, WithMetrics};
pub use streams::StreamMetrics;
pub use watches::{SentEvents, Watched};
pub use work_queue::WorkQueue;
use work_queue::WorkQueues;

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

/// Registers a metric. Names and labels are literals; the tests verify that they are well-formed.
fn registered<C: Collector + Clone + 'static>(registry: &Registry, collector: C) -> C {
    // Registration fails only for duplicate names.
    let _ = registry.register(Box::new(collector.clone()));
    collector
}

pub(crate) fn counters(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    registered(registry, IntCounterVec::new(Opts::new(name, help), labels).expect("a well-formed metric"))
}

/// A gauge without labels.
pub(crate) fn gauge(registry: &Registry, name: &str, help: &str) -> Gauge {
    registered(registry, Gauge::new(name, help).expect("a well-formed metric"))
}

fn gauges(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
    registered(registry, IntGaugeVec::new(Opts::new(name, help), labels).expect("a well-formed metric"))
}

pub(crate) fn histograms(
    registry: &Registry,
    name: &str,
    help: &str,
    labels: &[&str],
    buckets: &[f64],
) -> HistogramVec {
    let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
    registered(registry, HistogramVec::new(options, labels).expect("a well-formed metric"))
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
    pub(crate) fn in_flight(&self, kind: &str) -> IntGauge {
        self.in_flight.with_label_values(&[kind])
    }

    /// The gauge of queued requests of a kind.
    pub(crate) fn in_queue(&self, kind: &str) -> IntGauge {
        self.in_queue.with_label_values(&[kind])
    }

    /// The counter of rejected requests of a kind.
    pub(crate) fn dropped(&self, kind: &str) -> IntCounter {
        self.dropped.with_label_values(&[kind])
    }
}

/// Increments a gauge until it is dropped.
pub(crate) struct GaugeGuard(IntGauge);

impl GaugeGuard {
    pub(crate) fn new(gauge: &IntGauge) -> Self {
        gauge.inc();
        GaugeGuard(gauge.clone())
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}
