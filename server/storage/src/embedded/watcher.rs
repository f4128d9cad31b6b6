//! A watcher and the queue of its events.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use crate::{Error, Event, KeyRange, Result, Revision, WatchBatch};

/// The memory cost of a queued event besides its key and values.
const EVENT_OVERHEAD: usize = 256;

/// A watcher, before and after it has caught up with the history.
pub(super) struct Watcher {
    range: KeyRange,
    /// Maximum size in bytes of the queued events.
    queue_bytes: usize,
    wants_progress: bool,
    waiting: Mutex<Waiting>,
}

/// The queue of one watcher.
#[derive(Default)]
struct Waiting {
    /// The first revision that the queue receives; `None` while the history is read.
    from: Option<Revision>,
    events: Vec<Arc<Event>>,
    bytes: usize,
    progress: Option<Revision>,
    end: Option<Error>,
    waker: Option<Waker>,
}

impl Watcher {
    pub(super) fn new(range: KeyRange, queue_bytes: usize, wants_progress: bool) -> Self {
        Self { range, queue_bytes, wants_progress, waiting: Mutex::default() }
    }

    pub(super) fn range(&self) -> &KeyRange {
        &self.range
    }

    /// Queues events of its range; `false` when its queue is full, which ends the watch.
    pub(super) fn offer<'a>(&self, events: impl Iterator<Item = &'a Arc<Event>> + Clone) -> bool {
        let limit = self.queue_bytes;
        let mut waiting = self.lock();
        let from = waiting.from.unwrap_or_default();
        let wanted = events.filter(|event| event.revision() >= from);
        let bytes: usize = wanted.clone().map(|event| cost(event)).sum();
        if bytes == 0 {
            return true;
        }
        let fits = waiting.events.is_empty() || waiting.bytes + bytes <= limit;
        if fits {
            waiting.events.extend(wanted.cloned());
            waiting.bytes += bytes;
            waiting.progress = None; // it would be delivered after these events with an older revision
        } else {
            waiting.end = Some(Error::WatchTooSlow { limit });
            waiting.from = None;
        }
        drop(waiting);
        self.wake();
        fits
    }

    /// Queues a progress notification.
    pub(super) fn progress(&self, published: Revision) {
        let mut waiting = self.lock();
        // A watcher from a future revision has made no progress yet.
        if waiting.from.is_some_and(|from| published + 1 >= from) {
            waiting.progress = Some(published);
            drop(waiting);
            self.wake();
        }
    }

    /// Returns whether an event did not fit into its queue.
    pub(super) fn is_full(&self) -> bool {
        matches!(self.lock().end, Some(Error::WatchTooSlow { .. }))
    }

    pub(super) fn is_caught_up(&self) -> bool {
        let waiting = self.lock();
        waiting.from.is_some() && waiting.events.is_empty() && waiting.end.is_none()
    }

    /// Queues the events from a revision on.
    pub(super) fn begin(&self, from: Revision) {
        self.lock().from = Some(from);
    }

    /// Ends the watch with an error, after the queued events.
    pub(super) fn end(&self, error: Error) {
        self.lock().end = Some(error);
        self.wake();
    }

    /// Whether it gets notifications of progress.
    pub(super) fn wants_progress(&self) -> bool {
        self.wants_progress
    }

    /// Takes all queued events as one batch, then progress, then the error that ends the watch.
    pub(super) fn poll(&self, context: &Context<'_>) -> Poll<Result<WatchBatch>> {
        let mut waiting = self.lock();
        if let Some(last) = waiting.events.last() {
            let revision = last.revision();
            waiting.bytes = 0;
            return Poll::Ready(Ok(WatchBatch::Events { events: std::mem::take(&mut waiting.events), revision }));
        }
        if let Some(revision) = waiting.progress.take() {
            return Poll::Ready(Ok(WatchBatch::Progress { revision }));
        }
        if let Some(error) = waiting.end.take() {
            return Poll::Ready(Err(error));
        }
        waiting.waker = Some(context.waker().clone());
        Poll::Pending
    }

    fn wake(&self) {
        let waker = self.lock().waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cost(event: &Event) -> usize {
    let prev = event.prev.as_ref().map_or(0, |prev| prev.value.len());
    EVENT_OVERHEAD + event.kv.key.len() + event.kv.value.len() + prev
}
