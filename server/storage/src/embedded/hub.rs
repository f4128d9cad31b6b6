//! Fan-out of committed events to the watchers that are up to date.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use super::{watcher::Watcher, watchers::Watchers};
use crate::{Error, Event, Result, Revision, WatchBatch};

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
        watcher.begin(from);
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
        for watcher in watchers.iter().filter(|watcher| watcher.wants_progress()) {
            watcher.progress(state.published);
        }
        Ok(())
    }

    /// Ends every watch and refuses new ones.
    pub(super) fn close(&self) {
        let watchers = self.lock().watchers.take();
        for watcher in watchers.iter().flat_map(Watchers::iter) {
            watcher.end(Error::Closed);
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
        self.watcher.poll(context)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.hub.remove(&self.watcher);
    }
}
