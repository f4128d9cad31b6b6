//! Metrics of connections, which upstream does not have.

use prometheus::{IntCounterVec, IntGaugeVec, Registry};

use super::register::{counters, gauges};

/// The stages of connections, in chronological order.
const STAGES: [&str; 4] = ["handshake", "unauthenticated", "authenticated", "upgraded"];

/// Open, evicted, and refused connections.
#[derive(Clone)]
pub struct ConnectionMetrics {
    open: IntGaugeVec,
    evicted: IntCounterVec,
    refused: IntCounterVec,
}

impl ConnectionMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        ConnectionMetrics {
            open: gauges(registry, "apiserver_open_connections", "Number of open connections, by state.", &["stage"]),
            evicted: counters(
                registry,
                "apiserver_evicted_connections_total",
                "Number of connections closed to admit new ones, by the limit that was reached.",
                &["limit"],
            ),
            refused: counters(
                registry,
                "apiserver_refused_connections_total",
                "Number of connections refused because no other one could be closed, by the limit that was reached.",
                &["limit"],
            ),
        }
    }

    /// Sets the number of connections in each stage.
    pub fn show(&self, counts: [usize; 4]) {
        for (stage, count) in STAGES.iter().zip(counts) {
            self.open.with_label_values(&[*stage]).set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }

    pub fn evicted(&self, limit: &str) {
        self.evicted.with_label_values(&[limit]).inc();
    }

    pub fn refused(&self, limit: &str) {
        self.refused.with_label_values(&[limit]).inc();
    }
}
