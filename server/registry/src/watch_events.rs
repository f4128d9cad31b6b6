//! Events of a watch.

use std::sync::Arc;

use machinery::status::Status;
use storage::Revision;
use storage::cache::{Change, ChangeKind, Entry};

/// An event for a watcher.
pub enum WatchEvent {
    /// A change of an object, or an object of the initial state (`Added`).
    Object(ChangeKind, Arc<Entry>),
    /// The initial state up to this revision is complete (KEP-3157).
    InitialEventsEnd(Revision),
}

/// The result of [`WatchStream::poll_next`].
pub(crate) type Read = Option<Result<WatchEvent, Status>>;

/// An event of the store, with objects in their stored versions.
pub(crate) enum PendingEvent {
    Object(ChangeKind, Arc<Entry>),
    /// A change; its objects must be converted before they can be matched.
    Change(Arc<Change>),
    Other(Read),
}
