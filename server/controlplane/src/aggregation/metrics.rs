//! Metrics of unavailable APIServices (upstream: `kube-aggregator/pkg/controllers/status/metrics`).

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus::{IntCounterVec, IntGaugeVec, Opts, Registry};

/// The metrics of all APIServices. Clones share their state.
#[derive(Clone)]
pub struct AvailabilityMetrics {
    unavailable: IntGaugeVec,
    total: IntCounterVec,
    /// The names that have series.
    known: Arc<Mutex<HashSet<String>>>,
}

impl AvailabilityMetrics {
    /// Creates and registers the metrics.
    pub fn register(registry: &Registry) -> Self {
        let opts = Opts::new("aggregator_unavailable_apiservice", "1 for unavailable APIServices, by name.");
        let unavailable = IntGaugeVec::new(opts, &["name"]).expect("a well-formed metric");
        let opts = Opts::new(
            "aggregator_unavailable_apiservice_total",
            "Number of times that an APIService became unavailable, by name and reason.",
        );
        let total = IntCounterVec::new(opts, &["name", "reason"]).expect("a well-formed metric");
        // Only duplicate names are rejected.
        let _ = registry.register(Box::new(unavailable.clone()));
        let _ = registry.register(Box::new(total.clone()));
        AvailabilityMetrics { unavailable, total, known: Arc::default() }
    }

    /// Records the availability of an APIService. `reason` is set if it is unavailable;
    /// `was_available` is its previous state.
    pub fn observe(&self, name: &str, was_available: bool, reason: Option<&str>) {
        self.unavailable.with_label_values(&[name]).set(i64::from(reason.is_some()));
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
        if let Some(reason) = reason.filter(|_| was_available) {
            self.total.with_label_values(&[name, reason]).inc();
        }
    }

    /// Removes the series of deleted APIServices.
    pub fn keep(&self, exists: impl Fn(&str) -> bool) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|name| {
            let stays = exists(name);
            if !stays {
                // The series is missing only if it was already removed.
                let _ = self.unavailable.remove_label_values(&[name]);
            }
            stays
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_unavailable_api_services() {
        let registry = Registry::new();
        let metrics = AvailabilityMetrics::register(&registry);
        metrics.observe("v1.a", false, None);
        metrics.observe("v1.b", false, Some("ServiceNotFound"));
        metrics.observe("v1.a", true, Some("FailedDiscoveryCheck"));
        metrics.observe("v1.c", false, None);
        metrics.keep(|name| name != "v1.c");
        let text = prometheus::TextEncoder::new().encode_to_string(&registry.gather()).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            lines,
            [
                "aggregator_unavailable_apiservice{name=\"v1.a\"} 1",
                "aggregator_unavailable_apiservice{name=\"v1.b\"} 1",
                "aggregator_unavailable_apiservice_total{name=\"v1.a\",reason=\"FailedDiscoveryCheck\"} 1",
            ]
        );
    }
}
