//! Limits the size of events and batches (upstream: `plugin/audit/truncate`).
//!
//! Objects are removed from an oversized event, and an oversized batch is split.

use std::sync::Arc;

use apimachinery::audit::v1::Event;
use machinery::json;
use machinery::reflect::Ref;
use options::AuditLimits;
use request::BoxFuture;

use crate::level::{API_VERSION, Level};
use crate::sink::{Metrics, Sink};

/// The annotation of a truncated event.
const TRUNCATED: &str = "audit.k8s.io/truncated";
const PLUGIN: &str = "truncate";

/// A sink that enforces the limits before it forwards events.
pub(super) struct Truncate<S> {
    inner: S,
    limits: AuditLimits,
    metrics: Metrics,
}

impl<S: Sink> Truncate<S> {
    pub fn new(inner: S, limits: AuditLimits, metrics: Metrics) -> Self {
        Truncate { inner, limits, metrics }
    }

    /// Returns the event and its size, without objects if it exceeds the limit. `None` if it still exceeds the limit.
    fn fit(&self, event: &Arc<Event>) -> Option<(Arc<Event>, usize)> {
        let size = size(event);
        if size <= self.limits.event {
            return Some((event.clone(), size));
        }
        let has_objects = Level::of(&event.level).is_some_and(|level| level >= Level::Request);
        let bare = has_objects.then(|| Arc::new(without_objects(event)))?;
        let size = self::size(&bare);
        (size <= self.limits.event).then_some((bare, size))
    }

    async fn forward(&self, events: &[Arc<Event>]) -> bool {
        let (mut batch, mut total, mut accepted) = (Vec::new(), 0, true);
        for event in events {
            let Some((event, size)) = self.fit(event) else {
                self.metrics.lost(PLUGIN, "event is too large even after truncating", std::slice::from_ref(event));
                continue;
            };
            if !batch.is_empty() && total + size > self.limits.batch {
                accepted &= self.inner.process(&batch).await;
                batch.clear();
                total = 0;
            }
            total += size;
            batch.push(event);
        }
        (batch.is_empty() || self.inner.process(&batch).await) && accepted
    }
}

impl<S: Sink> Sink for Truncate<S> {
    fn process<'a>(&'a self, events: &'a [Arc<Event>]) -> BoxFuture<'a, bool> {
        Box::pin(self.forward(events))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.inner.close()
    }
}

fn without_objects(event: &Event) -> Event {
    let mut bare = event.clone();
    (bare.request_object, bare.response_object) = (None, None);
    bare.annotations.insert(TRUNCATED.into(), "true".into());
    bare
}

/// Returns the size of an event as JSON, in bytes.
fn size(event: &Event) -> usize {
    let mut text = Vec::new();
    json::encode_object(API_VERSION, "Event", Ref::of(event), &mut text);
    text.len()
}
