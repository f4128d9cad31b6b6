//! Watch: the store's events as object events, seen through a predicate.

use std::sync::Arc;

use machinery::reflect::Owned;
use machinery::status::Status;
use storage::{Event, EventKind, KeyValue, Watch, WatchBatch};

use crate::list::Predicate;
use crate::options::ListQuery;
use crate::resource::{ResourceStore, parse_resource_version};
use crate::stored;

/// What happened to an object, as the watcher sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventType {
    Added,
    Modified,
    Deleted,
    Bookmark,
}

impl EventType {
    /// As it stands in a watch event.
    pub fn as_str(self) -> &'static str {
        match self {
            EventType::Added => "ADDED",
            EventType::Modified => "MODIFIED",
            EventType::Deleted => "DELETED",
            EventType::Bookmark => "BOOKMARK",
        }
    }
}

/// One event; a bookmark's object has nothing but a resourceVersion.
pub struct WatchEvent {
    pub kind: EventType,
    pub object: Owned,
    /// A bookmark that ends the initial events.
    pub initial_events_end: bool,
}

/// How a watch begins.
enum Start {
    /// With the state as events, then what follows.
    State,
    /// With what follows a revision.
    After(u64),
}

/// A stream of events. Dropping it ends the watch.
pub struct WatchStream {
    resource: Arc<ResourceStore>,
    predicate: Predicate,
    watch: Watch,
    /// Events that are ready, oldest first.
    ready: std::collections::VecDeque<WatchEvent>,
    bookmarks: bool,
    /// The last revision that the watcher has seen everything up to.
    revision: u64,
}

impl ResourceStore {
    /// Begins a watch. `send_initial_events`: the state first, then a marked bookmark (KEP-3157).
    pub async fn watch(
        self: &Arc<Self>,
        namespace: &str,
        predicate: Predicate,
        query: &ListQuery,
        bookmarks: bool,
        send_initial_events: Option<bool>,
    ) -> Result<WatchStream, Status> {
        let wanted = parse_resource_version(&query.resource_version)?;
        let start = match (send_initial_events, wanted) {
            (Some(true), _) | (None, 0) => Start::State,
            (Some(false), 0) => Start::After(self.store.current_revision().await.map_err(stored::failure)?),
            (_, revision) => Start::After(revision),
        };
        let mut ready = std::collections::VecDeque::new();
        let revision = match start {
            Start::After(revision) => revision,
            Start::State => {
                let state = self.list(namespace, &predicate, &ListQuery::default()).await?;
                ready.extend(state.items.into_iter().map(|object| WatchEvent {
                    kind: EventType::Added,
                    object,
                    initial_events_end: false,
                }));
                state.revision
            }
        };
        if send_initial_events == Some(true) && bookmarks {
            ready.push_back(WatchEvent { initial_events_end: true, ..self.bookmark(revision) });
        }
        let watch = self.store.watch(self.range(namespace), Some(revision + 1)).await.map_err(watch_failure)?;
        Ok(WatchStream { resource: self.clone(), predicate, watch, ready, bookmarks, revision })
    }

    fn bookmark(&self, revision: u64) -> WatchEvent {
        let mut object = self.storage_kind.to_hub(Owned::new(self.storage_kind.def));
        if let Some(meta) = crate::meta_mut(&mut object) {
            meta.resource_version = revision.to_string();
        }
        WatchEvent { kind: EventType::Bookmark, object, initial_events_end: false }
    }
}

impl WatchStream {
    /// The next event; `None` when the store has closed.
    pub async fn next(&mut self) -> Option<Result<WatchEvent, Status>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            match self.watch.next().await? {
                Ok(WatchBatch::Events { events, revision }) => {
                    self.revision = revision;
                    for event in events {
                        match self.seen(&event) {
                            Ok(event) => self.ready.extend(event),
                            Err(status) => return Some(Err(status)),
                        }
                    }
                }
                Ok(WatchBatch::Progress { revision }) => self.revision = revision.max(self.revision),
                Err(error) => return Some(Err(watch_failure(error))),
            }
        }
    }

    /// A bookmark of how far the watch has come, if they are wanted.
    pub fn bookmark(&self) -> Option<WatchEvent> {
        self.bookmarks.then(|| self.resource.bookmark(self.revision))
    }

    /// What a change means to this watcher: an object that begins to match is added, one that ceases to is deleted.
    fn seen(&self, event: &Event) -> Result<Option<WatchEvent>, Status> {
        let old = match &event.prev {
            Some(kv) => Some(self.resource.decode(kv)?).filter(|o| self.resource.matches(&self.predicate, o.as_ref())),
            None => None,
        };
        let new = match event.kind {
            EventKind::Put => {
                Some(self.resource.decode(&event.kv)?).filter(|o| self.resource.matches(&self.predicate, o.as_ref()))
            }
            EventKind::Delete => None,
        };
        Ok(match (old, new) {
            (None, Some(object)) => Some(WatchEvent { kind: EventType::Added, object, initial_events_end: false }),
            (Some(_), Some(object)) => {
                Some(WatchEvent { kind: EventType::Modified, object, initial_events_end: false })
            }
            (Some(object), None) => Some(WatchEvent {
                kind: EventType::Deleted,
                object: at_revision(object, &event.kv),
                initial_events_end: false,
            }),
            (None, None) => None,
        })
    }
}

/// The last state of an object that is gone carries the revision of its going.
fn at_revision(mut object: Owned, kv: &KeyValue) -> Owned {
    if let Some(meta) = crate::meta_mut(&mut object) {
        meta.resource_version = kv.mod_revision.to_string();
    }
    object
}

fn watch_failure(error: storage::Error) -> Status {
    match error {
        storage::Error::Compacted { requested, compacted } => {
            Status::expired(format!("too old resource version: {} ({compacted})", requested.saturating_sub(1)))
        }
        other => stored::failure(other),
    }
}
