//! One change of one object, and what it is to a watcher.

use std::sync::{Arc, OnceLock};

use super::entry::Entry;
use super::resource::Shaper;
use crate::Revision;

/// A change as all watchers share it.
pub struct Change {
    pub revision: Revision,
    /// The object after it; absent when it was deleted.
    pub new: Option<Arc<Entry>>,
    /// The object before it; absent when it was created.
    pub old: Option<Arc<Entry>>,
    /// See [`Change::gone`].
    gone: OnceLock<Arc<Entry>>,
    shaper: Shaper,
}

/// What a change is to one watcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The object came into being, or begins to be what is watched for.
    Added,
    Modified,
    /// The object was deleted, or ceases to be what is watched for.
    Deleted,
}

/// What one watcher is told of a change.
pub struct Seen {
    pub revision: Revision,
    pub kind: ChangeKind,
    /// The object as it is after the change, or was before it if that is the end of it.
    pub entry: Arc<Entry>,
    /// The change itself, for watchers that look at both of its objects ([`Selection::whole_changes`](super::Selection)).
    pub change: Option<Arc<Change>>,
    /// See [`Change::cost`].
    pub(super) cost: usize,
}

impl Change {
    pub(super) fn new(revision: Revision, new: Option<Arc<Entry>>, old: Option<Arc<Entry>>, shaper: Shaper) -> Self {
        Change { revision, new, old, gone: OnceLock::new(), shaper }
    }

    /// The object as it was before, at the revision of the change: what those see for whom it is gone.
    fn gone(&self) -> Option<&Arc<Entry>> {
        let old = self.old.as_ref()?;
        Some(self.gone.get_or_init(|| self.shaper.at_revision(old, self.revision)))
    }

    /// What it is to those who watch for objects that `matches` lets through; `None` when they never see it.
    pub fn seen_by(&self, matches: impl Fn(&Entry) -> bool) -> Option<Seen> {
        let was = self.old.as_ref().is_some_and(|old| matches(old));
        let is = self.new.as_ref().is_some_and(|new| matches(new));
        let (kind, entry) = match (was, is) {
            (false, true) => (ChangeKind::Added, self.new.as_ref()),
            (true, true) => (ChangeKind::Modified, self.new.as_ref()),
            (true, false) => (ChangeKind::Deleted, self.gone()),
            (false, false) => return None,
        };
        Some(Seen { revision: self.revision, kind, entry: entry?.clone(), change: None, cost: self.cost() })
    }

    /// The entries that carry its attributes, the newer one first.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.new.iter().chain(&self.old)
    }

    /// About how many bytes nobody keeps alive but whoever remembers changes: the object as it was. As it is, it is in the snapshot anyway.
    pub(super) fn cost(&self) -> usize {
        const OVERHEAD: usize = 256;
        OVERHEAD + self.old.as_ref().map_or(0, |old| old.object.len())
    }
}
