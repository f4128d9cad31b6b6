//! Who watches a resource: each has a bounded queue, and is found without asking the others.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use super::change::{Change, Seen};
use super::entry::Entry;
use crate::KeyRange;

/// Says whether an object is wanted.
pub type Matches = Box<dyn Fn(&Entry) -> bool + Send + Sync>;

/// Which objects are wanted.
pub struct Selection {
    pub range: KeyRange,
    /// One key that is wanted, when the selection says so: by it watchers are found.
    pub key: Option<Bytes>,
    /// A field that must have this value, likewise.
    pub field: Option<(usize, Box<str>)>,
    /// Everything that is asked of an object in the range; `None`: nothing is.
    pub matches: Option<Matches>,
    /// The watcher is given whole changes, because `matches` lets objects through that it cannot judge.
    pub whole_changes: bool,
}

impl Selection {
    /// Everything in a range.
    pub fn all(range: KeyRange) -> Self {
        Selection { range, key: None, field: None, matches: None, whole_changes: false }
    }

    /// Whether an object is wanted. Of one that cannot be read nobody knows, so its watchers have to hear of it.
    pub fn wants(&self, entry: &Entry) -> bool {
        let matches = |entry| self.matches.as_ref().is_none_or(|matches| matches(entry));
        self.range.contains(&entry.key) && (entry.damage.is_some() || matches(entry))
    }
}

/// Most bytes that only waiting changes keep alive.
const QUEUE_BYTES: usize = 16 << 20;

/// After so many new watchers at least those are swept out whose readers are gone.
const SWEEP: usize = 1024;

/// One watcher's queue. Dropped by its reader, it is forgotten at the next change that it would have got.
pub struct Watcher {
    selection: Selection,
    /// Most changes that wait in the queue.
    limit: usize,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    changes: VecDeque<Seen>,
    bytes: usize,
    /// The end of the watch: it was too slow, or the cache started anew.
    ended: bool,
    waker: Option<Waker>,
}

impl Watcher {
    pub(super) fn new(selection: Selection, limit: usize) -> Self {
        Watcher { selection, limit, queue: Mutex::default() }
    }

    /// The next change; `None` at the end, after which the client has to watch again from where it is.
    pub fn poll_next(&self, context: &Context<'_>) -> Poll<Option<Seen>> {
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

    /// The next change if one waits.
    pub fn try_next(&self) -> Option<Seen> {
        let mut queue = self.lock();
        let seen = queue.changes.pop_front()?;
        queue.bytes -= seen.cost;
        Some(seen)
    }

    /// Whether every change that was given to it has been taken.
    pub fn is_idle(&self) -> bool {
        self.lock().changes.is_empty()
    }

    /// Queues a change if it is wanted, and gives whom to wake for it; false when the watcher cannot keep up and its watch ends.
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
    /// By the one key that they watch.
    by_key: HashMap<Bytes, Vec<Arc<Watcher>>>,
    /// By the value that a field must have.
    by_field: HashMap<usize, HashMap<Box<str>, Vec<Arc<Watcher>>>>,
    others: Vec<Arc<Watcher>>,
    /// How many have been added since those whose reader is gone were swept out.
    added: usize,
    /// Whose change is queued and who have not been woken yet; empty but for its room between changes.
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

    /// Forgets watchers of things that never change, whose readers went away unseen.
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

    /// Gives a change to whoever may want it; how many could not keep up. They are woken when all have it, or the first would run beside this
    /// and wait for the locks that this takes.
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

    /// How many there are, those included whose reader is gone and has not been missed yet.
    pub fn len(&self) -> usize {
        let fields = self.by_field.values().flat_map(HashMap::values);
        self.others.len() + self.by_key.values().chain(fields).map(Vec::len).sum::<usize>()
    }
}

/// Offers a change to all of a group, and leaves out those who are gone and those who could not keep up; how many these were.
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

/// The reader holds the other reference.
fn is_read(watcher: &Arc<Watcher>) -> bool {
    Arc::strong_count(watcher) > 1
}
