//! Makes metrics and registers them in the registry of a server.

use prometheus::core::Collector;
use prometheus::{Gauge, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry};

/// Registers a metric. Names and labels are literals; the tests verify that they are well-formed.
fn registered<C: Collector + Clone + 'static>(registry: &Registry, collector: C) -> C {
    // Registration fails only for duplicate names.
    let _ = registry.register(Box::new(collector.clone()));
    collector
}

/// Counters with labels.
pub fn counters(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    registered(registry, IntCounterVec::new(Opts::new(name, help), labels).expect("a well-formed metric"))
}

/// A gauge without labels.
pub fn gauge(registry: &Registry, name: &str, help: &str) -> Gauge {
    registered(registry, Gauge::new(name, help).expect("a well-formed metric"))
}

/// Gauges with labels.
pub fn gauges(registry: &Registry, name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
    registered(registry, IntGaugeVec::new(Opts::new(name, help), labels).expect("a well-formed metric"))
}

/// Histograms with labels.
pub fn histograms(registry: &Registry, name: &str, help: &str, labels: &[&str], buckets: &[f64]) -> HistogramVec {
    let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
    registered(registry, HistogramVec::new(options, labels).expect("a well-formed metric"))
}

/// Increments a gauge until it is dropped.
pub struct GaugeGuard(IntGauge);

impl GaugeGuard {
    /// Increments the gauge.
    pub fn new(gauge: &IntGauge) -> Self {
        gauge.inc();
        GaugeGuard(gauge.clone())
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}
