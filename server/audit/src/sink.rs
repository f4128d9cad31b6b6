//! The sink trait, and the metrics of auditing.

use std::sync::Arc;

use apimachinery::audit::v1::Event;
use prometheus::{IntCounter, IntCounterVec, Opts, Registry};
use request::BoxFuture;

/// A destination of events (upstream: `audit.Backend`).
pub trait Sink: Send + Sync {
    /// Processes events. Returns whether all of them were accepted.
    fn process<'a>(&'a self, events: &'a [Arc<Event>]) -> BoxFuture<'a, bool>;

    /// Waits until all accepted events are delivered.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

impl<S: Sink + ?Sized> Sink for Box<S> {
    fn process<'a>(&'a self, events: &'a [Arc<Event>]) -> BoxFuture<'a, bool> {
        (**self).process(events)
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        (**self).close()
    }
}

/// The metrics of auditing. Clones share the counters.
#[derive(Clone)]
pub(super) struct Metrics {
    pub events: IntCounter,
    pub errors: IntCounterVec,
    pub levels: IntCounterVec,
    pub rejected: IntCounter,
}

impl Metrics {
    /// Creates and registers the metrics. They are exposed as 0 if auditing is disabled.
    pub fn register(registry: &Registry) -> Self {
        let metrics = Metrics {
            events: counter(
                "apiserver_audit_event_total",
                "Number of audit events generated and passed to the backends.",
            ),
            errors: counters("apiserver_audit_error_total", "Number of lost audit events, by backend.", "plugin"),
            levels: counters("apiserver_audit_level_total", "Number of requests, by audit level.", "level"),
            rejected: counter(
                "apiserver_audit_requests_rejected_total",
                "Number of requests rejected because their audit event could not be stored.",
            ),
        };
        for collector in [
            Box::new(metrics.events.clone()) as Box<dyn prometheus::core::Collector>,
            Box::new(metrics.errors.clone()),
            Box::new(metrics.levels.clone()),
            Box::new(metrics.rejected.clone()),
        ] {
            // Registration fails only for duplicate names, and these names are distinct.
            let _ = registry.register(collector);
        }
        metrics
    }

    /// Counts and logs lost events (`audit.HandlePluginError`). The log has the IDs of the events, not their content.
    pub fn lost(&self, plugin: &str, why: impl std::fmt::Display, events: &[Arc<Event>]) {
        self.errors.with_label_values(&[plugin]).inc_by(events.len() as u64);
        let ids: Vec<&str> = events.iter().map(|event| event.audit_id.as_str()).collect();
        tracing::error!(plugin, %why, ?ids, "audit events lost");
    }
}

/// Creates a counter. Names and labels are literals of this file; the tests check that they are well-formed.
fn counter(name: &str, help: &str) -> IntCounter {
    IntCounter::new(name, help).expect("a well-formed metric")
}

fn counters(name: &str, help: &str, label: &str) -> IntCounterVec {
    IntCounterVec::new(Opts::new(name, help), &[label]).expect("a well-formed metric")
}
