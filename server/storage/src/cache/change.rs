//! A change of one object, and the event that a watcher gets for it.

use std::sync::{Arc, OnceLock};

use super::entry::Entry;
use super::factory::EntryFactory;
use crate::Revision;

/// A change, shared by all watchers.
pub struct Change {
    /// The revision of the change.
    pub revision: Revision,
    /// The object after the change; `None` when it was deleted.
    pub new: Option<Arc<Entry>>,
    /// The object before the change; `None` when it was created.
    pub old: Option<Arc<Entry>>,
    /// See [`Change::gone`].
    gone: OnceLock<Arc<Entry>>,
    factory: EntryFactory,
}

/// The type of the event that a watcher gets for a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The object was created, or matches the watcher's selection from now on.
    Added,
    /// The object was updated; it matches the watcher's selection before and after.
    Modified,
    /// The object was deleted, or does not match the watcher's selection any more.
    Deleted,
}

/// The event that one watcher gets for a change.
pub struct WatcherEvent {
    /// The revision of the change.
    pub revision: Revision,
    /// The type of the event.
    pub kind: ChangeKind,
    /// The object after the change; for [`ChangeKind::Deleted`] the object before it.
    pub entry: Arc<Entry>,
    /// The change, for watchers that evaluate both of its objects.
    ///
    /// [`Selection::whole_changes`](super::Selection) requests it.
    pub change: Option<Arc<Change>>,
    /// See [`Change::cost`].
    pub(super) cost: usize,
}

impl Change {
    pub(super) fn new(
        revision: Revision,
        new: Option<Arc<Entry>>,
        old: Option<Arc<Entry>>,
        factory: EntryFactory,
    ) -> Self {
        Change { revision, new, old, gone: OnceLock::new(), factory }
    }

    /// Returns the old object at the revision of the change, the object of a `Deleted` event.
    fn gone(&self) -> Option<&Arc<Entry>> {
        let old = self.old.as_ref()?;
        Some(self.gone.get_or_init(|| self.factory.at_revision(old, self.revision)))
    }

    /// Returns the event for a watcher of the objects that `matches` selects.
    ///
    /// `None` when neither object matches.
    pub fn seen_by(&self, matches: impl Fn(&Entry) -> bool) -> Option<WatcherEvent> {
        let was = self.old.as_ref().is_some_and(|old| matches(old));
        let is = self.new.as_ref().is_some_and(|new| matches(new));
        let (kind, entry) = match (was, is) {
            (false, true) => (ChangeKind::Added, self.new.as_ref()),
            (true, true) => (ChangeKind::Modified, self.new.as_ref()),
            (true, false) => (ChangeKind::Deleted, self.gone()),
            (false, false) => return None,
        };
        Some(WatcherEvent { revision: self.revision, kind, entry: entry?.clone(), change: None, cost: self.cost() })
    }

    /// Returns the entries of the change, the newer one first.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.new.iter().chain(&self.old)
    }

    /// Returns about how many bytes only the change history retains: the old object. The new one is in
    /// the snapshot.
    pub(super) fn cost(&self) -> usize {
        const OVERHEAD: usize = 256;
        OVERHEAD + self.old.as_ref().map_or(0, |old| old.object.len())
    }
}
