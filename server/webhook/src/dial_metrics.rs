//! How proxies do (upstream: `egressselector/metrics`).

use std::time::Duration;

use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry};

const SECONDS: [f64; 6] = [0.005, 0.025, 0.1, 0.5, 2.5, 12.5];

/// How far it was to a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    /// To the proxy.
    Connect,
    /// From the proxy to the server.
    Proxy,
}

/// What a proxy speaks, and over what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transport {
    pub protocol: &'static str,
    pub transport: &'static str,
}

/// Counts connections that proxies are asked for. Clones share it.
#[derive(Clone, Debug)]
pub struct DialMetrics {
    begun: IntCounterVec,
    took: HistogramVec,
    failed: IntCounterVec,
}

impl Default for DialMetrics {
    fn default() -> Self {
        let name = |name: &str| format!("apiserver_egress_dialer_{name}");
        let way = ["protocol", "transport"];
        let failures = "Connections that a proxy did not make, by what it speaks, over what, and how far it was.";
        let (begun, took) =
            ("Connections that proxies were asked for.", "How long proxies took to connect, in seconds.");
        let took = HistogramOpts::new(name("dial_duration_seconds"), took).buckets(SECONDS.to_vec());
        let counters = |name: String, help: &str, labels: &[&str]| {
            IntCounterVec::new(Opts::new(name, help), labels).expect("a well-formed metric")
        };
        DialMetrics {
            begun: counters(name("dial_start_total"), begun, &way),
            took: HistogramVec::new(took, &way).expect("a well-formed metric"),
            failed: counters(name("dial_failure_count"), failures, &["protocol", "transport", "stage"]),
        }
    }
}

impl DialMetrics {
    /// Shows the counts.
    pub fn register(&self, registry: &Registry) {
        // Only a name that is registered twice is refused.
        let _ = registry.register(Box::new(self.begun.clone()));
        let _ = registry.register(Box::new(self.took.clone()));
        let _ = registry.register(Box::new(self.failed.clone()));
    }

    pub(crate) fn begin(&self, way: Transport) {
        self.begun.with_label_values(&[way.protocol, way.transport]).inc();
    }

    pub(crate) fn connected(&self, way: Transport, took: Duration) {
        self.took.with_label_values(&[way.protocol, way.transport]).observe(took.as_secs_f64());
    }

    pub(crate) fn failed(&self, way: Transport, at: Stage) {
        let stage = match at {
            Stage::Connect => "connect",
            Stage::Proxy => "proxy",
        };
        self.failed.with_label_values(&[way.protocol, way.transport, stage]).inc();
    }
}
