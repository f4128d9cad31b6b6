//! Metrics that the servers of a process share: the code that keeps them has no server at hand.

use prometheus::core::Collector;
use prometheus::{Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec, Opts, Registry};

/// What is right for most durations (upstream: `ExponentialBuckets(0.001, 2, 15)`).
pub const SECONDS: [f64; 15] =
    [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384];

/// Counters that are not registered yet.
pub fn counters(name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    IntCounterVec::new(Opts::new(name, help), labels).expect("a well-formed metric")
}

/// A counter without labels that is not registered yet.
pub fn counter(name: &str, help: &str) -> IntCounter {
    IntCounter::new(name, help).expect("a well-formed metric")
}

/// Gauges that are not registered yet.
pub fn gauges(name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
    IntGaugeVec::new(Opts::new(name, help), labels).expect("a well-formed metric")
}

/// Histograms that are not registered yet.
pub fn histograms(name: &str, help: &str, labels: &[&str], buckets: &[f64]) -> HistogramVec {
    let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
    HistogramVec::new(options, labels).expect("a well-formed metric")
}

/// A histogram without labels that is not registered yet.
pub fn histogram(name: &str, help: &str, buckets: &[f64]) -> Histogram {
    let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
    Histogram::with_opts(options).expect("a well-formed metric")
}

/// Shows a metric among those of a server.
pub fn show(registry: &Registry, collector: &(impl Collector + Clone + 'static)) {
    let _ = registry.register(Box::new(collector.clone())); // only a name registered twice is refused
}
