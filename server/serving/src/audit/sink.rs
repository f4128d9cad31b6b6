//! Where events go, and the counting of those that got lost.

use std::sync::Arc;

use apimachinery::audit::v1::Event;
use prometheus::{IntCounter, IntCounterVec, Opts, Registry};

use crate::handler::BoxFuture;

/// Takes events (upstream: `audit.Backend`).
pub trait Sink: Send + Sync {
    /// Whether all of these were taken.
    fn process<'a>(&'a self, events: &'a [Arc<Event>]) -> BoxFuture<'a, bool>;

    /// Waits until everything that was taken is where it belongs.
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

/// The metrics of the audit log. Clones share them.
#[derive(Clone)]
pub(super) struct Metrics {
    pub events: IntCounter,
    pub errors: IntCounterVec,
    pub levels: IntCounterVec,
    pub rejected: IntCounter,
}

impl Metrics {
    /// Makes and registers them; they are there, at 0, also when nothing is recorded.
    pub fn register(registry: &Registry) -> Self {
        let metrics = Metrics {
            events: counter("apiserver_audit_event_total", "Audit events made and handed to their sinks."),
            errors: counters("apiserver_audit_error_total", "Audit events that got lost, by where.", "plugin"),
            levels: counters("apiserver_audit_level_total", "Requests by how much is recorded of them.", "level"),
            rejected: counter(
                "apiserver_audit_requests_rejected_total",
                "Requests refused because their audit event could not be stored.",
            ),
        };
        for collector in [
            Box::new(metrics.events.clone()) as Box<dyn prometheus::core::Collector>,
            Box::new(metrics.errors.clone()),
            Box::new(metrics.levels.clone()),
            Box::new(metrics.rejected.clone()),
        ] {
            // Only a name registered twice is refused, and these are four.
            let _ = registry.register(collector);
        }
        metrics
    }

    /// Counts events that got lost, and says so in the log (`audit.HandlePluginError`). What is in them is not for the log.
    pub fn lost(&self, plugin: &str, why: impl std::fmt::Display, events: &[Arc<Event>]) {
        self.errors.with_label_values(&[plugin]).inc_by(events.len() as u64);
        let ids: Vec<&str> = events.iter().map(|event| event.audit_id.as_str()).collect();
        tracing::error!(plugin, %why, ?ids, "audit events were lost");
    }
}

/// Names and labels are literals of this file; that they are well-formed is what the tests show.
fn counter(name: &str, help: &str) -> IntCounter {
    IntCounter::new(name, help).expect("a well-formed metric")
}

fn counters(name: &str, help: &str, label: &str) -> IntCounterVec {
    IntCounterVec::new(Opts::new(name, help), &[label]).expect("a well-formed metric")
}
