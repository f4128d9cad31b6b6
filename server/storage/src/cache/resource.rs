//! The cache of one resource: its present, its latest changes, its watchers.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::budget::Budget;
use super::change::Change;
use super::counts::Counts;
use super::entry::{Damage, Description, Entry};
use super::snapshot::Snapshot;
use super::watchers::{Selection, Watcher, Watchers};
use crate::{KeyValue, Revision};

/// Reads stored values of one resource, whose kind the storage does not know.
pub trait EntryDecoder: Send + Sync + 'static {
    /// The object as it is served, with its revision in it, and what selectors look at. What cannot be read is described as damaged.
    fn describe(&self, kv: &KeyValue) -> Description;

    /// An object as it is served, at another revision.
    fn at_revision(&self, entry: &Entry, revision: Revision) -> Description;
}

/// Makes entries, and knows the limits.
#[derive(Clone)]
pub(super) struct Shaper {
    pub describe: Arc<dyn EntryDecoder>,
    pub budget: Arc<Budget>,
    /// Most changes that wait for one watcher.
    pub queue: usize,
}

impl Shaper {
    pub fn entry(&self, kv: &KeyValue) -> Arc<Entry> {
        let description = match &kv.damage {
            None => self.describe.describe(kv),
            Some(why) => Description { damage: Some(Damage::Untransformable(why.clone())), ..Description::default() },
        };
        self.make(kv.key.clone(), kv.mod_revision, description)
    }

    pub fn at_revision(&self, entry: &Entry, revision: Revision) -> Arc<Entry> {
        let description = match &entry.damage {
            None => self.describe.at_revision(entry, revision),
            Some(why) => Description { damage: Some(why.clone()), ..Description::default() },
        };
        self.make(entry.key.clone(), revision, description)
    }

    fn make(&self, key: bytes::Bytes, revision: Revision, description: Description) -> Arc<Entry> {
        Arc::new(Entry::new(key, revision, description, self.budget.clone()))
    }
}

/// Most changes that are kept for watches that begin in the past.
const RECENT_CHANGES: usize = 4096;
/// Most bytes that only these changes keep alive.
const RECENT_BYTES: usize = 8 << 20;

/// The latest changes, oldest first.
struct Recent {
    changes: VecDeque<Arc<Change>>,
    bytes: usize,
    /// Every change after this revision is there.
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

/// See the module.
///
/// Two locks: whoever registers or feeds watchers holds `watchers`, and within it, for the time of one change, `state`. Readers take
/// `state` alone, and only to copy the snapshot.
pub struct ResourceCache {
    shaper: Shaper,
    state: RwLock<State>,
    watchers: Mutex<Watchers>,
    counts: Counts,
    /// How often the way in which objects are read has changed.
    changes_of_form: AtomicU64,
}

/// Objects of a resource, while the store is read.
pub(super) struct Reading {
    pub resource: Arc<ResourceCache>,
    pub objects: Snapshot,
    changes_of_form: u64,
}

impl Reading {
    pub fn begin(resource: Arc<ResourceCache>) -> Self {
        let changes_of_form = resource.changes_of_form.load(Ordering::Acquire);
        Reading { resource, objects: Snapshot::default(), changes_of_form }
    }

    /// Gives the resource its objects, as of this revision.
    pub fn finish(mut self, revision: Revision) {
        self.objects.revision = revision;
        self.resource.fill(self.objects);
        if self.changes_of_form != self.resource.changes_of_form.load(Ordering::Acquire) {
            self.resource.redecode_all();
        }
    }
}

struct State {
    snapshot: Snapshot,
    recent: Recent,
}

impl State {
    /// What there is when nothing is known of the changes that led to it.
    fn new(snapshot: Snapshot) -> Self {
        State { recent: Recent::after(snapshot.revision), snapshot }
    }
}

/// Where a watch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchFrom {
    /// With the objects that there are.
    State,
    /// With what follows a revision.
    After(Revision),
}

/// A watch that has begun.
pub struct Started {
    /// The objects to begin with, if they were asked for.
    pub state: Option<Snapshot>,
    pub watcher: Arc<Watcher>,
}

impl ResourceCache {
    /// Most changes that are kept for watches that begin in the past.
    pub const CAPACITY: usize = RECENT_CHANGES;

    /// One that has nothing yet.
    pub(super) fn new(shaper: Shaper) -> Self {
        let state = RwLock::new(State::new(Snapshot::default()));
        let (watchers, counts) = (Mutex::default(), Counts::default());
        ResourceCache { shaper, state, watchers, counts, changes_of_form: AtomicU64::new(0) }
    }

    /// The objects as they are now.
    pub fn snapshot(&self) -> Snapshot {
        self.read(|state| state.snapshot.clone())
    }

    /// What it has done.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// How many objects there are now, and how many bytes they take in the form in which they are stored.
    pub fn size(&self) -> (usize, usize) {
        self.read(|state| (state.snapshot.len(), state.snapshot.bytes()))
    }

    /// The object under a key as it is now.
    pub fn get(&self, key: &[u8]) -> Option<Arc<Entry>> {
        self.read(|state| state.snapshot.get(key).cloned())
    }

    /// The objects as they are now, with an index of a field, which is made when it is first asked for.
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

    /// Begins a watch; `None` when the changes after the revision are no longer here, and the store has to be asked.
    pub fn watch(&self, selection: Selection, from: WatchFrom) -> Option<Started> {
        let mut watchers = self.watchers();
        let watcher = Arc::new(Watcher::new(selection, self.shaper.queue));
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

    /// How many watchers there are.
    pub fn watchers_len(&self) -> usize {
        self.watchers().len()
    }

    /// An entry of a value that was read from the store's past.
    pub fn entry(&self, kv: &KeyValue) -> Arc<Entry> {
        self.shaper.entry(kv)
    }

    /// An entry's object, in whatever version, at another revision.
    pub fn at_revision(&self, entry: &Entry, revision: Revision) -> Arc<Entry> {
        self.shaper.at_revision(entry, revision)
    }

    /// A change that was read from the store's past.
    pub fn change(&self, event: &crate::Event) -> Change {
        let new = (event.kind == crate::EventKind::Put).then(|| self.shaper.entry(&event.kv));
        let old = event.prev.as_ref().map(|kv| self.shaper.entry(kv));
        Change::new(event.revision(), new, old, self.shaper.clone())
    }

    /// Takes in a change of the store.
    pub(super) fn apply(&self, event: &crate::Event) {
        let new = (event.kind == crate::EventKind::Put).then(|| self.shaper.entry(&event.kv));
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
        let change = Arc::new(Change::new(revision, new, old, self.shaper.clone()));
        state.recent.push(change.clone());
        drop(state);
        self.counts.changes.add(1);
        self.counts.cut_off.add(watchers.dispatch(&change));
    }

    /// Puts a value in the place of the same one that could not be read until now. Nobody is told: whoever had to be was refused, and lists
    /// again; watches that begin before this are the store's to tell.
    pub(super) fn retry_unreadable(&self, kv: &KeyValue) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let same = |entry: &Arc<Entry>| entry.damage.is_some() && entry.revision == kv.mod_revision;
        if state.snapshot.get(&kv.key).is_some_and(same) {
            state.snapshot.insert(self.shaper.entry(kv));
            state.recent = Recent::after(state.snapshot.revision);
        }
    }

    /// Begins, or begins anew because changes were missed, with what the store has now; all watches end.
    pub(super) fn fill(&self, objects: Snapshot) {
        self.replace(|_| objects);
    }

    /// Reads every object anew, because how they are read has changed; all watches end.
    pub fn redecode_all(&self) {
        self.changes_of_form.fetch_add(1, Ordering::Release);
        self.replace(|old| {
            let mut objects = Snapshot::at(old.revision);
            old.iter().for_each(|entry| drop(objects.insert(self.shaper.entry(&entry.key_value()))));
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

/// The changes after a revision; `None` when some of them are gone.
fn missed(recent: &Recent, revision: Revision) -> Option<Vec<Arc<Change>>> {
    if revision < recent.after {
        return None;
    }
    let first = recent.changes.partition_point(|change| change.revision <= revision);
    Some(recent.changes.range(first..).cloned().collect())
}
