//! Watch: events of the objects that a predicate selects, from a revision on (upstream: `cacher.Watch`).

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use machinery::status::Status;
use storage::cache::{ChangeKind, Entry, Snapshot, Started, WatchFrom, Watcher, WatcherEvent};
use storage::{KeyRange, Revision, WatchBatch};

use crate::converted::read;
use crate::list::check_listed;
use crate::options::ListQuery;
use crate::resource::{ResourceStore, parse_resource_version};
use crate::select::{Predicate, Selector};
use crate::stored;
use crate::watch_events::{PendingEvent, Read, WatchEvent};

/// A stream of events. Dropping it ends the watch.
pub struct WatchStream {
    resource: Arc<ResourceStore>,
    selector: Arc<Selector>,
    initial: Option<Initial>,
    /// The bookmark after the initial events.
    initial_end: Option<Revision>,
    source: Source,
    /// Every event up to this revision has been delivered.
    delivered: Revision,
    /// The conversion of pending events to the version of the store's users.
    conversion: Option<Reading>,
    /// Converted events.
    read: VecDeque<Read>,
    /// Whether events have objects in their stored versions.
    is_stored: bool,
}

/// See [`WatchStream::conversion`].
type Reading = Pin<Box<dyn Future<Output = VecDeque<Read>> + Send>>;

/// Maximum number of events that are converted at once.
const CONVERSION_BATCH: usize = 128;

/// The initial objects of a watch, read from the snapshot in chunks.
struct Initial {
    snapshot: Snapshot,
    rest: KeyRange,
    ready: VecDeque<Arc<Entry>>,
}

/// Number of objects read from a snapshot at once.
const CHUNK: usize = 256;

impl Initial {
    fn next(&mut self, selector: &Selector) -> Option<Arc<Entry>> {
        if self.ready.is_empty() {
            let found = self.snapshot.range(&self.rest).filter(|entry| selector.may_match(entry)).take(CHUNK);
            self.ready.extend(found.cloned());
            let last = self.ready.back()?;
            self.rest = self.rest.clone().after(&last.key);
        }
        self.ready.pop_front()
    }
}

/// The source of changes.
enum Source {
    Cache(Arc<Watcher>),
    /// The store, for revisions that the cache no longer has, and all later ones.
    Store {
        watch: storage::Watch,
        ready: VecDeque<WatcherEvent>,
    },
}

impl ResourceStore {
    /// Starts a watch of a namespace, or of all namespaces when it is empty.
    ///
    /// `send_initial_events` sends the state first, then, if `bookmarks` is set,
    /// [`WatchEvent::InitialEventsEnd`].
    ///
    /// # Errors
    /// Besides those of each call, 410 when the revision is compacted, and 500, as upstream, for an
    /// invalid resourceVersion.
    pub async fn watch(
        self: &Arc<Self>,
        namespace: &str,
        predicate: &Predicate,
        query: &ListQuery,
        bookmarks: bool,
        send_initial_events: Option<bool>,
    ) -> Result<WatchStream, Status> {
        self.check_keys_of(namespace, "")?;
        let (from, is_behind) = self.watch_from(query, send_initial_events).await?;
        let selector = Arc::new(Selector::new(self, namespace, predicate));
        let started = if is_behind { None } else { self.cache.watch(selector.selection(), from) };
        let (source, state) = match started {
            Some(Started { state, watcher }) => (Source::Cache(watcher), state),
            None => (self.watch_store(&selector, from).await?, None),
        };
        let delivered = match (from, &state) {
            (WatchFrom::After(revision), _) => revision,
            (WatchFrom::State, state) => state.as_ref().map_or(0, |s| s.revision.max(self.whole.revision())),
        };
        let initial_end = (send_initial_events == Some(true) && bookmarks).then_some(delivered);
        let rest = selector.range.clone();
        let initial = state.map(|snapshot| Initial { snapshot, rest, ready: VecDeque::new() });
        let (resource, read) = (self.clone(), VecDeque::new());
        let (conversion, is_stored) = (None, false);
        Ok(WatchStream { resource, selector, initial, initial_end, source, delivered, conversion, read, is_stored })
    }

    /// Returns where a watch begins, and whether the cache has not reached that revision.
    async fn watch_from(
        &self,
        query: &ListQuery,
        send_initial_events: Option<bool>,
    ) -> Result<(WatchFrom, bool), Status> {
        let wanted = parse_resource_version(&query.resource_version)?;
        let mut is_behind = false;
        match (wanted, send_initial_events) {
            (0, _) if query.resource_version.is_empty() => {
                self.reach_latest().await?.map_err(|latest| self.lags(latest))?;
            }
            (0, _) => {}
            (_, Some(true)) => self.reach(wanted).await?,
            // Only later changes are sent; if the cache lags behind, the store sends them.
            _ => is_behind = self.reach(wanted).await.is_err(),
        }
        let from = match (wanted, send_initial_events) {
            (_, Some(true)) | (0, None) => WatchFrom::State,
            (0, Some(false)) => WatchFrom::After(self.whole.revision()),
            (revision, _) => WatchFrom::After(revision),
        };
        Ok((from, is_behind))
    }

    async fn watch_store(&self, selector: &Selector, from: WatchFrom) -> Result<Source, Status> {
        let next = match from {
            WatchFrom::State => None,
            WatchFrom::After(revision) => Some(revision + 1),
        };
        let watch = self.store.watch(selector.range.clone(), next).await.map_err(watch_failure)?;
        Ok(Source::Store { watch, ready: VecDeque::new() })
    }
}

impl WatchStream {
    /// Waits for the next event; `None` when the watch has ended.
    pub async fn next(&mut self) -> Option<Result<WatchEvent, Status>> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    /// Polls for the next event; `None` when the watch has ended.
    ///
    /// The client should then watch again from its revision.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<WatchEvent, Status>>> {
        loop {
            if let Some(event) = self.read.pop_front() {
                return Poll::Ready(event);
            }
            if self.conversion.is_none() {
                let first = match ready!(self.poll_stored(context)) {
                    PendingEvent::Other(event) => return Poll::Ready(event),
                    PendingEvent::Object(kind, entry) if self.is_read(&entry) => {
                        return Poll::Ready(Some(Ok(WatchEvent::Object(kind, entry))));
                    }
                    first => first,
                };
                self.convert(first, context);
            }
            let Some(reading) = &mut self.conversion else { return Poll::Ready(None) };
            self.read = ready!(reading.as_mut().poll(context));
            self.conversion = None;
        }
    }

    /// Makes the stream deliver objects in their stored versions.
    pub(crate) fn without_conversion(self) -> Self {
        WatchStream { is_stored: true, ..self }
    }

    /// Returns whether an entry needs no conversion.
    fn is_read(&self, entry: &Entry) -> bool {
        self.is_stored || self.resource.versions.as_ref().is_none_or(|versions| versions.is_read(entry))
    }

    /// Starts the conversion of an event and of the events that are ready after it.
    fn convert(&mut self, first: PendingEvent, context: &mut Context<'_>) {
        let mut batch = vec![first];
        while batch.len() < CONVERSION_BATCH
            && !matches!(batch.last(), Some(PendingEvent::Other(None | Some(Err(_)))))
            && let Poll::Ready(next) = self.poll_stored(context)
        {
            batch.push(next);
        }
        self.conversion = Some(Box::pin(read(self.resource.clone(), self.selector.clone(), batch)));
    }

    /// Polls for the next event, with its object in the stored version.
    fn poll_stored(&mut self, context: &mut Context<'_>) -> Poll<PendingEvent> {
        if let Some(initial) = &mut self.initial {
            if let Some(entry) = initial.next(&self.selector) {
                return Poll::Ready(pending_event(ChangeKind::Added, entry));
            }
            self.initial = None;
        }
        if let Some(revision) = self.initial_end.take() {
            return Poll::Ready(PendingEvent::Other(Some(Ok(WatchEvent::InitialEventsEnd(revision)))));
        }
        Poll::Ready(match ready!(self.poll_change(context)) {
            Some(Ok(seen)) => {
                self.delivered = self.delivered.max(seen.revision);
                match seen.change {
                    Some(change) => PendingEvent::Change(change),
                    None => pending_event(seen.kind, seen.entry),
                }
            }
            Some(Err(status)) => PendingEvent::Other(Some(Err(status))),
            None => PendingEvent::Other(None),
        })
    }

    fn poll_change(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<WatcherEvent, Status>>> {
        let (watch, queue) = match &mut self.source {
            Source::Cache(watcher) => return watcher.poll_next(context).map(|next| next.map(Ok)),
            Source::Store { watch, ready } => (watch, ready),
        };
        loop {
            if let Some(next) = queue.pop_front() {
                return Poll::Ready(Some(Ok(next)));
            }
            match ready!(Pin::new(&mut *watch).poll_next(context)) {
                Some(Ok(WatchBatch::Events { events, revision })) => {
                    let changes = events.iter().map(|event| Arc::new(self.resource.cache.change(event)));
                    queue.extend(changes.filter_map(|change| self.selector.event_of(&change)));
                    self.delivered = self.delivered.max(if queue.is_empty() { revision } else { 0 });
                }
                Some(Ok(WatchBatch::Progress { revision })) => self.delivered = self.delivered.max(revision),
                Some(Err(error)) => return Poll::Ready(Some(Err(watch_failure(error)))),
                None => return Poll::Ready(None),
            }
        }
    }

    /// Returns whether the last event belongs to the initial state.
    ///
    /// Only this watcher gets such an event.
    pub fn is_initial(&self) -> bool {
        self.initial.is_some()
    }

    /// Returns the revision up to which everything has been delivered.
    ///
    /// `None` while events are pending.
    pub fn progress(&self) -> Option<Revision> {
        if self.initial.is_some() || self.initial_end.is_some() || self.conversion.is_some() || !self.read.is_empty() {
            return None;
        }
        match &self.source {
            Source::Cache(watcher) => {
                // In this order: the queue has a change before the cache reaches its revision.
                let reached = self.resource.whole.revision();
                watcher.is_idle().then(|| reached.max(self.delivered))
            }
            Source::Store { ready, .. } => ready.is_empty().then_some(self.delivered),
        }
    }
}

fn pending_event(kind: ChangeKind, entry: Arc<Entry>) -> PendingEvent {
    match check_listed(&entry) {
        Ok(()) => PendingEvent::Object(kind, entry),
        Err(status) => PendingEvent::Other(Some(Err(status))),
    }
}

fn watch_failure(error: storage::Error) -> Status {
    match error {
        storage::Error::Compacted { requested, compacted } => {
            Status::expired(format!("too old resource version: {} ({compacted})", requested.saturating_sub(1)))
        }
        other => stored::failure(other),
    }
}
