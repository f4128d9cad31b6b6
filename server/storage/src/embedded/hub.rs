//! Fan-out of committed events to the watchers that are up to date.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use super::watchers::Watchers;
use crate::{Error, Event, KeyRange, Result, Revision, WatchBatch};

/// The memory cost of a queued event besides its key and values.
const EVENT_OVERHEAD: usize = 256;

/// The watchers that are up to date.
pub(super) struct Hub {
    state: Mutex<HubState>,
}

struct HubState {
    /// Every event up to this revision has been queued for the watchers.
    published: Revision,
    /// `None` when the store is closed.
    watchers: Option<Watchers>,
}

impl Hub {
    pub(super) fn new(published: Revision) -> Self {
        Self { state: Mutex::new(HubState { published, watchers: Some(Watchers::default()) }) }
    }

    /// Returns the last published revision.
    pub(super) fn revision(&self) -> Result<Revision> {
        let state = self.lock();
        if state.watchers.is_some() { Ok(state.published) } else { Err(Error::Closed) }
    }

    /// Subscribes a watcher to events from a revision on; `None` is from now on. Returns `None` when
    /// that revision has been published already; then its events must be read from the history.
    pub(super) fn subscribe(
        self: &Arc<Self>,
        watcher: &Arc<Watcher>,
        from: Option<Revision>,
    ) -> Result<Option<Subscription>> {
        let mut state = self.lock();
        let from = from.unwrap_or(state.published + 1);
        if from <= state.published {
            return Ok(None);
        }
        let watchers = state.watchers.as_mut().ok_or(Error::Closed)?;
        watcher.lock().from = Some(from);
        watchers.add(Arc::clone(watcher));
        Ok(Some(Subscription { hub: Arc::clone(self), watcher: Arc::clone(watcher), from }))
    }

    /// Returns the last published revision if all of these watchers have received every event up to it.
    pub(super) fn caught_up<'a>(&self, watchers: impl IntoIterator<Item = &'a Arc<Watcher>>) -> Option<Revision> {
        let state = self.lock();
        watchers.into_iter().all(|watcher| watcher.is_caught_up()).then_some(state.published)
    }

    /// Queues the events of a commit, in order, for the watchers of their keys. A watch ends when its
    /// queue is full.
    pub(super) fn publish(&self, events: &[Arc<Event>], revision: Revision) {
        let mut state = self.lock();
        state.published = revision;
        if let Some(watchers) = &mut state.watchers {
            watchers.offer(events);
        }
    }

    /// Queues a progress notification for every watcher.
    pub(super) fn send_progress(&self) -> Result<()> {
        let state = self.lock();
        let watchers = state.watchers.as_ref().ok_or(Error::Closed)?;
        for watcher in watchers.iter().filter(|watcher| watcher.wants_progress) {
            watcher.progress(state.published);
        }
        Ok(())
    }

    /// Ends every watch and refuses new ones.
    pub(super) fn close(&self) {
        let watchers = self.lock().watchers.take();
        for watcher in watchers.iter().flat_map(Watchers::iter) {
            watcher.lock().end = Some(Error::Closed);
            watcher.wake();
        }
    }

    fn remove(&self, gone: &Arc<Watcher>) {
        if let Some(watchers) = &mut self.lock().watchers {
            watchers.remove(gone);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HubState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // each change under the lock is complete
    }
}

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
    fn progress(&self, published: Revision) {
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

    fn is_caught_up(&self) -> bool {
        let waiting = self.lock();
        waiting.from.is_some() && waiting.events.is_empty() && waiting.end.is_none()
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

/// The reader's side of a queue; dropping it unsubscribes.
pub(super) struct Subscription {
    hub: Arc<Hub>,
    watcher: Arc<Watcher>,
    from: Revision,
}

impl Subscription {
    /// The first revision that it delivers.
    pub(super) fn from(&self) -> Revision {
        self.from
    }

    /// Returns all queued events as one batch, then progress, then the error that ends the watch.
    pub(super) fn poll(&self, context: &Context<'_>) -> Poll<Result<WatchBatch>> {
        let mut waiting = self.watcher.lock();
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
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.hub.remove(&self.watcher);
    }
}

fn cost(event: &Event) -> usize {
    let prev = event.prev.as_ref().map_or(0, |prev| prev.value.len());
    EVENT_OVERHEAD + event.kv.key.len() + event.kv.value.len() + prev
}
