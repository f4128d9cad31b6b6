//! Fan-out of committed events to the watchers that are up to date.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use crate::{Error, Event, KeyRange, Result, Revision, WatchBatch};

/// The memory cost of a queued event besides its key and values.
const EVENT_OVERHEAD: usize = 256;

/// The watchers that are up to date.
pub(super) struct Hub {
    queue_bytes: usize,
    state: Mutex<HubState>,
}

struct HubState {
    /// Every event up to this revision has been queued for the watchers.
    published: Revision,
    /// `None` when the store is closed.
    watchers: Option<Vec<Arc<Watcher>>>,
}

impl Hub {
    pub(super) fn new(published: Revision, queue_bytes: usize) -> Self {
        Self { queue_bytes, state: Mutex::new(HubState { published, watchers: Some(Vec::new()) }) }
    }

    /// Returns the last published revision.
    pub(super) fn revision(&self) -> Result<Revision> {
        let state = self.lock();
        if state.watchers.is_some() { Ok(state.published) } else { Err(Error::Closed) }
    }

    /// Subscribes to events from a revision on; `None` is from now on. Returns `None` when that
    /// revision has been published already; then its events must be read from the history.
    pub(super) fn subscribe(
        self: &Arc<Self>,
        range: &KeyRange,
        from: Option<Revision>,
    ) -> Result<Option<Subscription>> {
        let mut state = self.lock();
        let from = from.unwrap_or(state.published + 1);
        if from <= state.published {
            return Ok(None);
        }
        let watchers = state.watchers.as_mut().ok_or(Error::Closed)?;
        let watcher = Arc::new(Watcher { range: range.clone(), from, waiting: Mutex::default() });
        watchers.push(Arc::clone(&watcher));
        Ok(Some(Subscription { hub: Arc::clone(self), watcher }))
    }

    /// Queues the events of a commit, in order, for the watchers of their keys. A watch ends when its
    /// queue is full.
    pub(super) fn publish(&self, events: &[Arc<Event>], revision: Revision) {
        let mut state = self.lock();
        state.published = revision;
        if let Some(watchers) = &mut state.watchers {
            watchers.retain(|watcher| watcher.offer(events, self.queue_bytes));
        }
    }

    /// Queues a progress notification for every watcher.
    pub(super) fn send_progress(&self) -> Result<()> {
        let state = self.lock();
        let watchers = state.watchers.as_ref().ok_or(Error::Closed)?;
        for watcher in watchers {
            // A watcher from a future revision has made no progress yet.
            if state.published + 1 >= watcher.from {
                watcher.lock().progress = Some(state.published);
                watcher.wake();
            }
        }
        Ok(())
    }

    /// Ends every watch and refuses new ones.
    pub(super) fn close(&self) {
        for watcher in self.lock().watchers.take().into_iter().flatten() {
            watcher.lock().end = Some(Error::Closed);
            watcher.wake();
        }
    }

    fn remove(&self, gone: &Arc<Watcher>) {
        if let Some(watchers) = &mut self.lock().watchers {
            watchers.retain(|watcher| !Arc::ptr_eq(watcher, gone));
        }
    }

    fn lock(&self) -> MutexGuard<'_, HubState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // each change under the lock is complete
    }
}

struct Watcher {
    range: KeyRange,
    from: Revision,
    waiting: Mutex<Waiting>,
}

/// The queue of one watcher.
#[derive(Default)]
struct Waiting {
    events: Vec<Arc<Event>>,
    bytes: usize,
    progress: Option<Revision>,
    end: Option<Error>,
    waker: Option<Waker>,
}

impl Watcher {
    /// Queues the events that it watches; `false` when its queue is full, which ends the watch.
    fn offer(&self, events: &[Arc<Event>], limit: usize) -> bool {
        let wanted =
            || events.iter().filter(|event| event.revision() >= self.from && self.range.contains(&event.kv.key));
        let bytes: usize = wanted().map(|event| cost(event)).sum();
        if bytes == 0 {
            return true;
        }
        let mut waiting = self.lock();
        let fits = waiting.events.is_empty() || waiting.bytes + bytes <= limit;
        if fits {
            waiting.events.extend(wanted().cloned());
            waiting.bytes += bytes;
            waiting.progress = None; // it would be delivered after these events with an older revision
        } else {
            waiting.end = Some(Error::WatchTooSlow { limit });
        }
        drop(waiting);
        self.wake();
        fits
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
}

impl Subscription {
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
