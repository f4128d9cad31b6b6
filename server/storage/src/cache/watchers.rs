//! The watchers of a resource. Each has a bounded queue and is indexed by the key or the field value
//! that it watches.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use super::change::{Change, WatcherEvent};
use super::entry::Entry;
use crate::KeyRange;

/// A condition of a [`Selection`]: returns whether an object is selected.
pub type Matches = Box<dyn Fn(&Entry) -> bool + Send + Sync>;

/// The objects that a watcher selects.
pub struct Selection {
    /// The keys of the objects.
    pub range: KeyRange,
    /// The only selected key, if there is one; watchers are indexed by it.
    pub key: Option<Bytes>,
    /// The index of a field and its required value; watchers are indexed by them.
    pub field: Option<(usize, Box<str>)>,
    /// The condition for objects in the range; `None` selects all.
    pub matches: Option<Matches>,
    /// Whether the watcher gets whole changes ([`WatcherEvent::change`]).
    ///
    /// `matches` then also accepts objects that it cannot evaluate.
    pub whole_changes: bool,
}

impl Selection {
    /// Selects everything in a range.
    pub fn all(range: KeyRange) -> Self {
        Selection { range, key: None, field: None, matches: None, whole_changes: false }
    }

    /// Returns whether an object is selected.
    ///
    /// An unreadable object in the range always is, because its attributes are unknown.
    pub fn wants(&self, entry: &Entry) -> bool {
        let matches = |entry| self.matches.as_ref().is_none_or(|matches| matches(entry));
        self.range.contains(&entry.key) && (entry.damage.is_some() || matches(entry))
    }
}

/// Maximum size in bytes of the objects that only queued changes retain.
const QUEUE_BYTES: usize = 16 << 20;

/// Minimum number of new watchers after which watchers without a reader are removed.
const SWEEP: usize = 1024;

/// The queue of one watcher.
///
/// It is limited to [`CacheOptions::queue`](super::CacheOptions) changes, which retain at most 16 MiB.
/// After its reader drops it, the next change that it would get removes it.
pub struct Watcher {
    selection: Selection,
    /// Most changes that wait in the queue.
    limit: usize,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    changes: VecDeque<WatcherEvent>,
    bytes: usize,
    /// The watch has ended: it was too slow, or the cache was filled again.
    ended: bool,
    waker: Option<Waker>,
}

impl Watcher {
    pub(super) fn new(selection: Selection, limit: usize) -> Self {
        Watcher { selection, limit, queue: Mutex::default() }
    }

    /// Polls for the next change; `None` when the watch has ended.
    ///
    /// The client then watches again from its revision.
    pub fn poll_next(&self, context: &Context<'_>) -> Poll<Option<WatcherEvent>> {
        let mut queue = self.lock();
        if let Some(seen) = queue.changes.pop_front() {
            queue.bytes -= seen.cost;
            return Poll::Ready(Some(seen));
        }
        if queue.ended {
            return Poll::Ready(None);
        }
        match &mut queue.waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }

    /// Returns the next change if one is queued.
    pub fn try_next(&self) -> Option<WatcherEvent> {
        let mut queue = self.lock();
        let seen = queue.changes.pop_front()?;
        queue.bytes -= seen.cost;
        Some(seen)
    }

    /// Returns whether the queue is empty.
    pub fn is_idle(&self) -> bool {
        self.lock().changes.is_empty()
    }

    /// Queues a change if it is selected. Returns `false` when the queue is full, which ends the watch,
    /// and the waker of the reader.
    pub(super) fn offer(&self, change: &Arc<Change>) -> (bool, Option<Waker>) {
        let Some(mut seen) = change.seen_by(|entry| self.selection.wants(entry)) else { return (true, None) };
        seen.change = self.selection.whole_changes.then(|| change.clone());
        let mut queue = self.lock();
        let fits = queue.changes.len() < self.limit && queue.bytes + seen.cost <= QUEUE_BYTES;
        if fits {
            queue.bytes += seen.cost;
            queue.changes.push_back(seen);
        } else {
            queue.changes.clear();
            queue.ended = true;
        }
        (fits, queue.waker.take())
    }

    pub(super) fn end(&self) {
        let mut queue = self.lock();
        queue.ended = true;
        let waker = queue.waker.take();
        drop(queue);
        waker.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All watchers of a resource.
#[derive(Default)]
pub(super) struct Watchers {
    /// By the only key that they watch.
    by_key: HashMap<Bytes, Vec<Arc<Watcher>>>,
    /// By field index and required value.
    by_field: HashMap<usize, HashMap<Box<str>, Vec<Arc<Watcher>>>>,
    others: Vec<Arc<Watcher>>,
    /// Number of watchers added since the last sweep.
    added: usize,
    /// Readers to wake after the dispatch of a change; empty between changes, but keeps its capacity.
    waiting: Vec<Waker>,
}

impl Watchers {
    pub fn add(&mut self, watcher: Arc<Watcher>) {
        self.added += 1;
        if self.added > SWEEP.max(self.len() / 2) {
            self.sweep();
        }
        let group = match (&watcher.selection.key, &watcher.selection.field) {
            (Some(key), _) => self.by_key.entry(key.clone()).or_default(),
            (None, Some((field, value))) => self.by_field.entry(*field).or_default().entry(value.clone()).or_default(),
            (None, None) => &mut self.others,
        };
        group.push(watcher);
    }

    /// Removes watchers without a reader. Those of objects that never change are found only here.
    fn sweep(&mut self) {
        fn sweep<K>(groups: &mut HashMap<K, Vec<Arc<Watcher>>>) {
            groups.retain(|_, group| {
                group.retain(is_read);
                !group.is_empty()
            });
        }
        sweep(&mut self.by_key);
        self.by_field.values_mut().for_each(sweep);
        self.others.retain(is_read);
        self.added = 0;
    }

    /// Gives a change to the watchers that may select it; returns how many watches ended because they
    /// were too slow. Wakes the readers after the last one has the change. Otherwise they would wait
    /// for the locks held here.
    pub fn dispatch(&mut self, change: &Arc<Change>) -> usize {
        let mut cut_off = offer_all(&mut self.others, change, &mut self.waiting);
        if let Some(entry) = change.entries().next()
            && let Some(group) = self.by_key.get_mut(&entry.key)
        {
            cut_off += offer_all(group, change, &mut self.waiting);
            if group.is_empty() {
                self.by_key.remove(&entry.key);
            }
        }
        for (field, groups) in &mut self.by_field {
            let mut before = None;
            for value in change.entries().map(|entry| entry.attributes.field(*field)) {
                if before != Some(value)
                    && let Some(group) = groups.get_mut(value)
                {
                    cut_off += offer_all(group, change, &mut self.waiting);
                    if group.is_empty() {
                        groups.remove(value);
                    }
                }
                before = Some(value);
            }
        }
        self.waiting.drain(..).for_each(Waker::wake);
        cut_off
    }

    /// Ends all watches.
    pub fn end(&mut self) {
        let fields = self.by_field.drain().flat_map(|(_, groups)| groups.into_values());
        let all = self.by_key.drain().map(|(_, group)| group).chain(fields).chain([std::mem::take(&mut self.others)]);
        all.flatten().for_each(|watcher| watcher.end());
    }

    /// Returns the number of watchers, including those without a reader that have not been removed yet.
    pub fn len(&self) -> usize {
        let fields = self.by_field.values().flat_map(HashMap::values);
        self.others.len() + self.by_key.values().chain(fields).map(Vec::len).sum::<usize>()
    }
}

/// Offers a change to a group of watchers; removes those without a reader and those that are too slow.
/// Returns the number of the latter.
fn offer_all(group: &mut Vec<Arc<Watcher>>, change: &Arc<Change>, waiting: &mut Vec<Waker>) -> usize {
    let mut cut_off = 0;
    group.retain(|watcher| {
        if !is_read(watcher) {
            return false;
        }
        let (stays, waker) = watcher.offer(change);
        waiting.extend(waker);
        cut_off += usize::from(!stays);
        stays
    });
    cut_off
}

/// Returns whether the reader still holds its reference.
fn is_read(watcher: &Arc<Watcher>) -> bool {
    Arc::strong_count(watcher) > 1
}
