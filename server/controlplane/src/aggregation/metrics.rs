//! Which APIServices do not answer (upstream: `kube-aggregator/pkg/controllers/status/metrics`).

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus::{IntCounterVec, IntGaugeVec, Opts, Registry};

/// The metrics of all APIServices. Clones share them.
#[derive(Clone)]
pub struct AvailabilityMetrics {
    unavailable: IntGaugeVec,
    total: IntCounterVec,
    /// The names that there are series of.
    known: Arc<Mutex<HashSet<String>>>,
}

impl AvailabilityMetrics {
    /// Makes the metrics, and adds them to a registry.
    pub fn register(registry: &Registry) -> Self {
        let opts = Opts::new("aggregator_unavailable_apiservice", "1 for APIServices that do not answer, by name.");
        let unavailable = IntGaugeVec::new(opts, &["name"]).expect("a well-formed metric");
        let opts = Opts::new(
            "aggregator_unavailable_apiservice_total",
            "How often APIServices ceased to answer, by name and reason.",
        );
        let total = IntCounterVec::new(opts, &["name", "reason"]).expect("a well-formed metric");
        // Only a name that is registered twice is refused.
        let _ = registry.register(Box::new(unavailable.clone()));
        let _ = registry.register(Box::new(total.clone()));
        AvailabilityMetrics { unavailable, total, known: Arc::default() }
    }

    /// An APIService answers, or does not for a reason; `did` it before?
    pub fn tell(&self, name: &str, did: bool, reason: Option<&str>) {
        self.unavailable.with_label_values(&[name]).set(i64::from(reason.is_some()));
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
        if let Some(reason) = reason.filter(|_| did) {
            self.total.with_label_values(&[name, reason]).inc();
        }
    }

    /// Forgets those that are gone.
    pub fn keep(&self, is_there: impl Fn(&str) -> bool) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|name| {
            let stays = is_there(name);
            if !stays {
                // It is missing only when somebody else removed it.
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
    fn what_does_not_answer_is_shown() {
        let registry = Registry::new();
        let metrics = AvailabilityMetrics::register(&registry);
        metrics.tell("v1.a", false, None);
        metrics.tell("v1.b", false, Some("ServiceNotFound"));
        metrics.tell("v1.a", true, Some("FailedDiscoveryCheck"));
        metrics.tell("v1.c", false, None);
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
