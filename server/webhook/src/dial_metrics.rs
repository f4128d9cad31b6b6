//! Metrics of egress proxies (upstream: `egressselector/metrics`).

use std::time::Duration;

use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry};

const SECONDS: [f64; 6] = [0.005, 0.025, 0.1, 0.5, 2.5, 12.5];

/// The stage of a connection attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DialStage {
    /// From this server to the proxy.
    Connect,
    /// From the proxy to the server.
    Proxy,
}

/// The protocol of a proxy and its transport.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transport {
    pub protocol: &'static str,
    pub transport: &'static str,
}

/// Metrics of connections through proxies. Clones share them.
#[derive(Clone, Debug)]
pub struct DialMetrics {
    begun: IntCounterVec,
    took: HistogramVec,
    failed: IntCounterVec,
}

impl Default for DialMetrics {
    fn default() -> Self {
        let name = |name: &str| format!("apiserver_egress_dialer_{name}");
        let transport = ["protocol", "transport"];
        let failures = "Number of failed connections through a proxy, by protocol, transport and stage.";
        let (begun, took) =
            ("Number of connections requested from proxies.", "Duration of connecting through a proxy, in seconds.");
        let took = HistogramOpts::new(name("dial_duration_seconds"), took).buckets(SECONDS.to_vec());
        let counters = |name: String, help: &str, labels: &[&str]| {
            IntCounterVec::new(Opts::new(name, help), labels).expect("a well-formed metric")
        };
        DialMetrics {
            begun: counters(name("dial_start_total"), begun, &transport),
            took: HistogramVec::new(took, &transport).expect("a well-formed metric"),
            failed: counters(name("dial_failure_count"), failures, &["protocol", "transport", "stage"]),
        }
    }
}

impl DialMetrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &Registry) {
        // Fails only for a name that is already registered.
        let _ = registry.register(Box::new(self.begun.clone()));
        let _ = registry.register(Box::new(self.took.clone()));
        let _ = registry.register(Box::new(self.failed.clone()));
    }

    pub(crate) fn begin(&self, transport: Transport) {
        self.begun.with_label_values(&[transport.protocol, transport.transport]).inc();
    }

    pub(crate) fn connected(&self, transport: Transport, took: Duration) {
        self.took.with_label_values(&[transport.protocol, transport.transport]).observe(took.as_secs_f64());
    }

    pub(crate) fn failed(&self, transport: Transport, at: DialStage) {
        let stage = match at {
            DialStage::Connect => "connect",
            DialStage::Proxy => "proxy",
        };
        self.failed.with_label_values(&[transport.protocol, transport.transport, stage]).inc();
    }
}
