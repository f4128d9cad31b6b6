//! The cache of one resource: its current objects, its recent changes, its watchers.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::change::Change;
use super::counts::CacheCounts;
use super::entry::Entry;
use super::factory::EntryFactory;
use super::snapshot::Snapshot;
use super::watchers::{Selection, Watcher, Watchers};
use crate::{KeyValue, Revision};

/// Maximum number of changes that are kept for watches from a past revision.
const RECENT_CHANGES: usize = 4096;
/// Maximum size in bytes of the objects that only these changes retain.
const RECENT_BYTES: usize = 8 << 20;

/// The latest changes, oldest first.
struct Recent {
    changes: VecDeque<Arc<Change>>,
    bytes: usize,
    /// Every change after this revision is included.
    after: Revision,
}

impl Recent {
    fn after(revision: Revision) -> Self {
        Recent { changes: VecDeque::new(), bytes: 0, after: revision }
    }

    fn push(&mut self, change: Arc<Change>) {
        self.bytes += change.cost();
        self.changes.push_back(change);
        while self.changes.len() > RECENT_CHANGES || self.bytes > RECENT_BYTES {
            let Some(oldest) = self.changes.pop_front() else { break };
            self.bytes -= oldest.cost();
            self.after = oldest.revision;
        }
    }
}

/// The cache of one resource.
///
/// It has two locks. Registration of a watcher and dispatch of a change hold `watchers` and, within it,
/// `state` for the time of one change. Readers hold `state` only, while they clone the snapshot.
pub struct ResourceCache {
    factory: EntryFactory,
    state: RwLock<State>,
    watchers: Mutex<Watchers>,
    counts: CacheCounts,
    /// How often the decoding of objects has changed.
    decoder_changes: AtomicU64,
}

/// Objects of a resource, during a read of the store.
pub(super) struct Reading {
    pub resource: Arc<ResourceCache>,
    pub objects: Snapshot,
    decoder_changes: u64,
}

impl Reading {
    pub fn begin(resource: Arc<ResourceCache>) -> Self {
        let decoder_changes = resource.decoder_changes.load(Ordering::Acquire);
        Reading { resource, objects: Snapshot::default(), decoder_changes }
    }

    /// Replaces the objects of the resource, as of this revision.
    pub fn finish(mut self, revision: Revision) {
        self.objects.revision = revision;
        self.resource.fill(self.objects);
        if self.decoder_changes != self.resource.decoder_changes.load(Ordering::Acquire) {
            self.resource.redecode_all();
        }
    }
}

struct State {
    snapshot: Snapshot,
    recent: Recent,
}

impl State {
    /// Returns a state without any known changes.
    fn new(snapshot: Snapshot) -> Self {
        State { recent: Recent::after(snapshot.revision), snapshot }
    }
}

/// The start of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchFrom {
    /// With the current objects.
    State,
    /// With the changes after a revision.
    After(Revision),
}

/// A started watch.
pub struct Started {
    /// The initial objects, for [`WatchFrom::State`].
    pub state: Option<Snapshot>,
    /// The queue of the changes after `state` or after the requested revision.
    pub watcher: Arc<Watcher>,
}

impl ResourceCache {
    /// Maximum number of changes that are kept for watches from a past revision.
    pub const CAPACITY: usize = RECENT_CHANGES;

    /// Creates an empty cache.
    pub(super) fn new(factory: EntryFactory) -> Self {
        let state = RwLock::new(State::new(Snapshot::default()));
        let (watchers, counts) = (Mutex::default(), CacheCounts::default());
        ResourceCache { factory, state, watchers, counts, decoder_changes: AtomicU64::new(0) }
    }

    /// Returns the current objects.
    pub fn snapshot(&self) -> Snapshot {
        self.read(|state| state.snapshot.clone())
    }

    /// Returns the counters.
    pub fn counts(&self) -> &CacheCounts {
        &self.counts
    }

    /// Returns the number of objects and their size in bytes in stored form.
    pub fn size(&self) -> (usize, usize) {
        self.read(|state| (state.snapshot.len(), state.snapshot.bytes()))
    }

    /// Returns the current object of a key.
    pub fn get(&self, key: &[u8]) -> Option<Arc<Entry>> {
        self.read(|state| state.snapshot.get(key).cloned())
    }

    /// Returns the current objects with an index of a field.
    ///
    /// The first call for a field creates its index.
    pub fn snapshot_by_field(&self, field: usize) -> Snapshot {
        let snapshot = self.snapshot();
        if snapshot.has_index(field) {
            return snapshot;
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if !state.snapshot.has_index(field) {
            state.snapshot.add_index(field);
        }
        state.snapshot.clone()
    }

    /// Starts a watch; `None` when the changes after the revision are not retained.
    ///
    /// The store has them then ([`Store::watch`](crate::Store::watch)).
    pub fn watch(&self, selection: Selection, from: WatchFrom) -> Option<Started> {
        let mut watchers = self.watchers();
        let watcher = Arc::new(Watcher::new(selection, self.factory.queue));
        let state = match from {
            WatchFrom::State => {
                let snapshot = self.snapshot();
                self.counts.initial.add(snapshot.len());
                Some(snapshot)
            }
            WatchFrom::After(revision) => {
                let missed = self.read(|state| missed(&state.recent, revision))?;
                for change in missed {
                    watcher.offer(&change);
                }
                None
            }
        };
        watchers.add(watcher.clone());
        Some(Started { state, watcher })
    }

    /// Returns the number of watchers, some of which may have no reader any more.
    pub fn watchers_len(&self) -> usize {
        self.watchers().len()
    }

    /// Creates an entry from a value of a past revision.
    pub fn entry(&self, kv: &KeyValue) -> Arc<Entry> {
        self.factory.entry(kv)
    }

    /// Returns an entry's object, in any version, with another revision.
    pub fn at_revision(&self, entry: &Entry, revision: Revision) -> Arc<Entry> {
        self.factory.at_revision(entry, revision)
    }

    /// Creates a change from an event of a past revision.
    pub fn change(&self, event: &crate::Event) -> Change {
        let new = (event.kind == crate::EventKind::Put).then(|| self.factory.entry(&event.kv));
        let old = event.prev.as_ref().map(|kv| self.factory.entry(kv));
        Change::new(event.revision(), new, old, self.factory.clone())
    }

    /// Applies a change of the store.
    pub(super) fn apply(&self, event: &crate::Event) {
        let new = (event.kind == crate::EventKind::Put).then(|| self.factory.entry(&event.kv));
        let mut watchers = self.watchers();
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let revision = event.revision();
        let old = match &new {
            Some(entry) => state.snapshot.insert(entry.clone()),
            None => state.snapshot.remove(&event.kv.key),
        };
        state.snapshot.revision = revision;
        if new.is_none() && old.is_none() {
            return;
        }
        let change = Arc::new(Change::new(revision, new, old, self.factory.clone()));
        state.recent.push(change.clone());
        drop(state);
        self.counts.changes.add(1);
        self.counts.cut_off.add(watchers.dispatch(&change));
    }

    /// Replaces an unreadable value that has become readable. Watchers get no event: those of the
    /// unreadable value were ended and list again. Watches from an earlier revision are served by the
    /// store.
    pub(super) fn retry_unreadable(&self, kv: &KeyValue) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let same = |entry: &Arc<Entry>| entry.damage.is_some() && entry.revision == kv.mod_revision;
        if state.snapshot.get(&kv.key).is_some_and(same) {
            state.snapshot.insert(self.factory.entry(kv));
            state.recent = Recent::after(state.snapshot.revision);
        }
    }

    /// Replaces all objects, at the start or after changes were missed; all watches end.
    pub(super) fn fill(&self, objects: Snapshot) {
        self.replace(|_| objects);
    }

    /// Decodes every object again after the decoding has changed; all watches end.
    pub fn redecode_all(&self) {
        self.decoder_changes.fetch_add(1, Ordering::Release);
        self.replace(|old| {
            let mut objects = Snapshot::at(old.revision);
            old.iter().for_each(|entry| drop(objects.insert(self.factory.entry(&entry.key_value()))));
            objects
        });
    }

    fn replace(&self, with: impl FnOnce(&Snapshot) -> Snapshot) {
        let mut watchers = self.watchers();
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        *state = State::new(with(&state.snapshot));
        drop(state);
        self.counts.fillings.add(1);
        watchers.end();
    }

    /// Ends all watches.
    pub(super) fn end(&self) {
        self.watchers().end();
    }

    fn read<T>(&self, f: impl FnOnce(&State) -> T) -> T {
        f(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn watchers(&self) -> MutexGuard<'_, Watchers> {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the changes after a revision; `None` when some of them are not retained.
fn missed(recent: &Recent, revision: Revision) -> Option<Vec<Arc<Change>>> {
    if revision < recent.after {
        return None;
    }
    let first = recent.changes.partition_point(|change| change.revision <= revision);
    Some(recent.changes.range(first..).cloned().collect())
}
