//! Metrics that the servers of a process share: the code that updates them has no server at hand.

use prometheus::core::Collector;
use prometheus::{Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec, Opts, Registry};

/// The buckets of most durations (upstream: `ExponentialBuckets(0.001, 2, 15)`).
pub const SECONDS: [f64; 15] =
    [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192, 16.384];

/// Creates counters without registering them.
pub fn counters(name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    IntCounterVec::new(Opts::new(name, help), labels).expect("a well-formed metric")
}

/// Creates a counter without labels, without registering it.
pub fn counter(name: &str, help: &str) -> IntCounter {
    IntCounter::new(name, help).expect("a well-formed metric")
}

/// Creates gauges without registering them.
pub fn gauges(name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
    IntGaugeVec::new(Opts::new(name, help), labels).expect("a well-formed metric")
}

/// Creates histograms without registering them.
pub fn histograms(name: &str, help: &str, labels: &[&str], buckets: &[f64]) -> HistogramVec {
    let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
    HistogramVec::new(options, labels).expect("a well-formed metric")
}

/// Creates a histogram without labels, without registering it.
pub fn histogram(name: &str, help: &str, buckets: &[f64]) -> Histogram {
    let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
    Histogram::with_opts(options).expect("a well-formed metric")
}

/// Registers a metric in the registry of a server.
pub fn show(registry: &Registry, collector: &(impl Collector + Clone + 'static)) {
    let _ = registry.register(Box::new(collector.clone())); // only a name registered twice is refused
}
