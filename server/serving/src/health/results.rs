//! The results of health checks, as metrics (upstream: `component-base/metrics/prometheus/slis`).

use prometheus::core::Collector;
use prometheus::proto::MetricFamily;
use prometheus::{IntCounterVec, IntGaugeVec, Opts};
use telemetry::metrics::stability;

/// The results of checks by name and endpoint. Clones share them.
#[derive(Clone)]
pub(super) struct Results {
    last: IntGaugeVec,
    total: IntCounterVec,
}

impl Default for Results {
    fn default() -> Self {
        let last = Opts::new(
            "kubernetes_healthcheck",
            "Result of the last run of a health check: 1 for success, 0 for an error.",
        );
        let total = Opts::new("kubernetes_healthchecks_total", "Number of health check runs, by result.");
        Results {
            last: IntGaugeVec::new(last, &["name", "type"]).expect("a well-formed metric"),
            total: IntCounterVec::new(total, &["name", "type", "status"]).expect("a well-formed metric"),
        }
    }
}

impl Results {
    /// Records the result of a check.
    pub fn record(&self, name: &str, endpoint: &str, is_good: bool) {
        let status = if is_good { "success" } else { "error" };
        self.last.with_label_values(&[name, endpoint]).set(is_good.into());
        self.total.with_label_values(&[name, endpoint, status]).inc();
    }

    /// Resets all results, including the last ones: a check reappears after its next run.
    pub fn reset(&self) {
        self.last.reset();
        self.total.reset();
    }

    pub fn families(&self) -> Vec<MetricFamily> {
        let mut families = [self.last.collect(), self.total.collect()].concat();
        families.retain(|family| !family.get_metric().is_empty());
        stability::mark(&mut families);
        families
    }
}
