//! The stream of changes.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_core::Stream;

use crate::{KeyValue, Result, Revision};

/// One change of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// The key after the change. For a delete only `key` and `mod_revision`, the revision of the delete, are set.
    pub kv: KeyValue,
    /// The key before the change.
    pub prev: Option<KeyValue>,
}

/// What happened to a key (mvccpb's `Event_EventType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// It was created or changed.
    Put,
    /// It was deleted, or its lease ran out.
    Delete,
}

impl Event {
    /// The revision of the change.
    pub fn revision(&self) -> Revision {
        self.kv.mod_revision
    }

    /// Whether the change brought the key into being.
    pub fn is_create(&self) -> bool {
        self.kind == EventKind::Put && self.kv.create_revision == self.kv.mod_revision
    }
}

/// What a watch delivers at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchBatch {
    /// Changes in order of revision, with all changes of a revision in one batch.
    Events {
        /// The changes; never empty.
        events: Vec<Arc<Event>>,
        /// The revision of the last change.
        revision: Revision,
    },
    /// Every change up to this revision has been delivered (etcd's progress notification).
    Progress {
        /// The revision.
        revision: Revision,
    },
}

impl WatchBatch {
    /// The revision up to which the watcher has seen everything; it resumes from the next one.
    pub fn revision(&self) -> Revision {
        match self {
            Self::Events { revision, .. } | Self::Progress { revision } => *revision,
        }
    }
}

/// An open watch: an ordered stream of batches without gaps or repetitions.
///
/// An error is the last item. Dropping the watch cancels it; waiting for an item and giving up loses nothing.
pub struct Watch(Pin<Box<dyn Stream<Item = Result<WatchBatch>> + Send>>);

impl Watch {
    /// Wraps a stream that keeps the promises of this type.
    pub fn new(stream: impl Stream<Item = Result<WatchBatch>> + Send + 'static) -> Self {
        Self(Box::pin(stream))
    }

    /// The next batch; `None` after the error that ended the watch.
    pub async fn next(&mut self) -> Option<Result<WatchBatch>> {
        std::future::poll_fn(|context| self.0.as_mut().poll_next(context)).await
    }
}

impl Stream for Watch {
    type Item = Result<WatchBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(context)
    }
}
