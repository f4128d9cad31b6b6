//! Watches: streams of changes.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_core::Stream;

use crate::{KeyValue, Result, Revision};

/// A change of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The type of the change.
    pub kind: EventKind,
    /// The key after the change. For a delete, only `key` and `mod_revision` are set, to the revision
    /// of the delete.
    pub kv: KeyValue,
    /// The key before the change.
    pub prev: Option<KeyValue>,
}

/// The type of a change (mvccpb's `Event_EventType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The key was created or updated.
    Put,
    /// The key was deleted, or its lease expired.
    Delete,
}

impl Event {
    /// Returns the revision of the change.
    pub fn revision(&self) -> Revision {
        self.kv.mod_revision
    }

    /// Returns whether the change created the key.
    pub fn is_create(&self) -> bool {
        self.kind == EventKind::Put && self.kv.create_revision == self.kv.mod_revision
    }
}

/// An item of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchBatch {
    /// Changes in order of revision. A batch has all changes of a revision.
    Events {
        /// The changes; never empty.
        events: Vec<Arc<Event>>,
        /// The revision of the last change.
        revision: Revision,
    },
    /// All changes up to a revision are delivered (etcd's progress notification).
    Progress {
        /// The revision.
        revision: Revision,
    },
}

impl WatchBatch {
    /// Returns the revision up to which everything has been delivered.
    ///
    /// A new watch resumes from the next revision.
    pub fn revision(&self) -> Revision {
        match self {
            Self::Events { revision, .. } | Self::Progress { revision } => *revision,
        }
    }
}

/// An open watch: an ordered stream of batches without gaps or duplicates.
///
/// An error is the last item. Dropping the watch cancels it. Dropping the future of [`Watch::next`]
/// loses no item.
///
/// ```
/// use storage::{EmbeddedStore, KeyRange, Store, Txn, WatchBatch};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let store = EmbeddedStore::open(dir.path())?;
/// let mut watch = store.watch(KeyRange::prefix("/registry/"), None).await?;
/// store.commit(Txn::create("/registry/things/a", "1")).await?;
/// match watch.next().await.expect("the store is open")? {
///     WatchBatch::Events { events, .. } => assert!(events[0].is_create()),
///     WatchBatch::Progress { .. } => unreachable!("progress comes after events"),
/// }
/// # Ok(())
/// # }
/// ```
pub struct Watch(Pin<Box<dyn Stream<Item = Result<WatchBatch>> + Send>>);

impl Watch {
    /// Wraps a stream that has the properties of this type.
    pub fn new(stream: impl Stream<Item = Result<WatchBatch>> + Send + 'static) -> Self {
        Self(Box::pin(stream))
    }

    /// Returns the next batch; `None` after the error that ended the watch.
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
