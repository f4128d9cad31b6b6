//! Fan-out of committed events to the watchers that are up to date.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use crate::{Error, Event, KeyRange, Result, Revision, WatchBatch};

/// What one waiting event costs a watcher besides its key and values.
const EVENT_OVERHEAD: usize = 256;

/// Everyone who watches the present.
pub(super) struct Hub {
    queue_bytes: usize,
    state: Mutex<HubState>,
}

struct HubState {
    /// Watchers have been told everything up to this revision.
    published: Revision,
    /// `None` when the store is closed.
    watchers: Option<Vec<Arc<Watcher>>>,
}

impl Hub {
    pub(super) fn new(published: Revision, queue_bytes: usize) -> Self {
        Self { queue_bytes, state: Mutex::new(HubState { published, watchers: Some(Vec::new()) }) }
    }

    /// The last revision that was published.
    pub(super) fn revision(&self) -> Result<Revision> {
        let state = self.lock();
        if state.watchers.is_some() { Ok(state.published) } else { Err(Error::Closed) }
    }

    /// Subscribes to events from a revision on, or from now on; `None` when the revision has been published already and
    /// must be read from the history.
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

    /// Hands the events of a commit, in order, to whoever watches their keys. A watcher whose queue is full is cut off.
    pub(super) fn publish(&self, events: &[Arc<Event>], revision: Revision) {
        let mut state = self.lock();
        state.published = revision;
        if let Some(watchers) = &mut state.watchers {
            watchers.retain(|watcher| watcher.offer(events, self.queue_bytes));
        }
    }

    /// Tells every watcher that it has seen all there is.
    pub(super) fn send_progress(&self) -> Result<()> {
        let state = self.lock();
        let watchers = state.watchers.as_ref().ok_or(Error::Closed)?;
        for watcher in watchers {
            // A watcher that waits for a revision still to come has made no progress it could be told of.
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
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // each change under the lock is complete in itself
    }
}

struct Watcher {
    range: KeyRange,
    from: Revision,
    waiting: Mutex<Waiting>,
}

/// What waits to be read by one watcher.
#[derive(Default)]
struct Waiting {
    events: Vec<Arc<Event>>,
    bytes: usize,
    progress: Option<Revision>,
    end: Option<Error>,
    waker: Option<Waker>,
}

impl Watcher {
    /// Queues the events it watches; false when that would be too much and the watcher is cut off.
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
            waiting.progress = None; // it would come after these events and be older than they are
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

/// One watcher's end of its queue; dropping it unsubscribes.
pub(super) struct Subscription {
    hub: Arc<Hub>,
    watcher: Arc<Watcher>,
}

impl Subscription {
    /// Everything that waits as one batch, then progress, then the end.
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
