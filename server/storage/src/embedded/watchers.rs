//! The watchers of a store by what they watch, so that a change is compared with few of them.

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;

use super::watcher::Watcher;
use crate::{Event, KeyRange};

/// The watchers of a store that are up to date.
#[derive(Default)]
pub(super) struct Watchers {
    of_keys: HashMap<Bytes, Vec<Arc<Watcher>>>,
    of_ranges: ByStart,
    /// The pairs of a watcher and an event that it watches, by index; kept for its memory.
    pairs: Vec<(usize, usize)>,
}

impl Watchers {
    pub(super) fn add(&mut self, watcher: Arc<Watcher>) {
        match watcher.range().single() {
            Some(key) => self.of_keys.entry(key.clone()).or_default().push(watcher),
            None => self.of_ranges.add(watcher),
        }
    }

    pub(super) fn remove(&mut self, gone: &Arc<Watcher>) {
        match gone.range().single() {
            Some(key) => {
                if let Some(watchers) = self.of_keys.get_mut(key) {
                    watchers.retain(|watcher| !Arc::ptr_eq(watcher, gone));
                    if watchers.is_empty() {
                        self.of_keys.remove(key);
                    }
                }
            }
            None => self.of_ranges.remove(gone),
        }
    }

    /// Queues the events of a commit, in order, and removes the watchers with a full queue. A watcher
    /// gets all its events at once, so that no reader finds a part of a revision.
    pub(super) fn offer(&mut self, events: &[Arc<Event>]) {
        self.pairs.clear();
        for (index, event) in events.iter().enumerate() {
            self.of_ranges.containing(&event.kv.key, |watcher| self.pairs.push((watcher, index)));
        }
        self.pairs.sort_unstable();
        let mut any_full = false;
        for pairs in self.pairs.chunk_by(|one, other| one.0 == other.0) {
            let watched = pairs.iter().map(|&(_, event)| &events[event]);
            any_full |= !self.of_ranges.watchers[pairs[0].0].offer(watched);
        }
        if any_full {
            self.of_ranges.remove_full();
        }
        if self.of_keys.is_empty() {
            return;
        }
        for event in events {
            if let Some(watchers) = self.of_keys.get_mut(&event.kv.key) {
                watchers.retain(|watcher| watcher.offer(std::iter::once(event)));
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Watcher>> {
        self.of_ranges.watchers.iter().chain(self.of_keys.values().flatten())
    }
}

/// Watchers of ranges, ordered by the start of the range.
#[derive(Default)]
struct ByStart {
    watchers: Vec<Arc<Watcher>>,
    /// For each watcher the greatest end of its range and of all ranges before; `None` for the end of
    /// the key space.
    reaches: Vec<Option<Bytes>>,
}

impl ByStart {
    fn add(&mut self, watcher: Arc<Watcher>) {
        let place = self.watchers.partition_point(|other| other.range().start() <= watcher.range().start());
        self.watchers.insert(place, watcher);
        self.reaches.insert(place, self.reach(place));
        self.update_reaches(place + 1);
    }

    fn remove(&mut self, gone: &Arc<Watcher>) {
        if let Some(place) = self.watchers.iter().position(|watcher| Arc::ptr_eq(watcher, gone)) {
            self.watchers.remove(place);
            self.reaches.remove(place);
            self.update_reaches(place);
        }
    }

    /// Removes the watchers with a full queue.
    fn remove_full(&mut self) {
        let full: Vec<_> = self.watchers.iter().filter(|watcher| watcher.is_full()).cloned().collect();
        full.iter().for_each(|watcher| self.remove(watcher));
    }

    /// Computes the reach of a place from that of the place before.
    fn reach(&self, place: usize) -> Option<Bytes> {
        let end = self.watchers[place].range().end();
        match place.checked_sub(1).map(|before| &self.reaches[before]) {
            Some(None) => None,
            Some(Some(before)) => end.map(|end| end.max(before).clone()),
            None => end.cloned(),
        }
    }

    /// Computes the reaches again from a place on, as far as they change.
    fn update_reaches(&mut self, place: usize) {
        for place in place..self.watchers.len() {
            let reach = self.reach(place);
            if self.reaches[place] == reach {
                return; // those behind depend on this one
            }
            self.reaches[place] = reach;
        }
    }

    /// Calls `found` with the index of each watcher whose range contains the key.
    fn containing(&self, key: &[u8], mut found: impl FnMut(usize)) {
        let begun = self.watchers.partition_point(|watcher| watcher.range().start() <= key);
        for index in (0..begun).rev() {
            if self.reaches[index].as_ref().is_some_and(|reach| reach <= key) {
                return; // no range up to here ends after the key
            }
            if ends_after(self.watchers[index].range(), key) {
                found(index);
            }
        }
    }
}

fn ends_after(range: &KeyRange, key: &[u8]) -> bool {
    range.end().is_none_or(|end| key < &end[..])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All keys of at most two of three bytes, and the empty one.
    fn keys() -> Vec<Vec<u8>> {
        let bytes = [0u8, 1, 255];
        let one = bytes.iter().map(|&byte| vec![byte]);
        let two = bytes.iter().flat_map(|&first| bytes.map(|second| vec![first, second]));
        std::iter::once(Vec::new()).chain(one).chain(two).collect()
    }

    /// All ranges between two keys, the empty ones too, and those without an end.
    fn ranges() -> Vec<KeyRange> {
        let ends = || keys().into_iter().map(|end| Some(Bytes::from(end))).chain([None]);
        keys().into_iter().flat_map(|start| ends().map(move |end| KeyRange::new(start.clone(), end))).collect()
    }

    fn assert_finds(watchers: &ByStart, added: &[Arc<Watcher>]) {
        for key in keys() {
            let mut found = Vec::new();
            watchers.containing(&key, |index| found.push(Arc::as_ptr(&watchers.watchers[index])));
            let holds = |watcher: &&Arc<Watcher>| watcher.range().contains(&key);
            let mut expected: Vec<_> = added.iter().filter(holds).map(Arc::as_ptr).collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{key:?} in {:?}", added.iter().map(|one| one.range()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn finds_watchers_whose_range_contains_key() {
        let ranges = ranges();
        // Strides without a common divisor with the number of ranges visit them in many orders.
        for (stride, number) in [(1, 1), (5, 3), (11, 5), (17, 8), (23, 13), (41, 40), (59, ranges.len())] {
            for first in 0..ranges.len() {
                let (mut watchers, mut added) = (ByStart::default(), Vec::new());
                for place in 0..number {
                    let range = ranges[(first + place * stride) % ranges.len()].clone();
                    let watcher = Arc::new(Watcher::new(range, 1, false));
                    watchers.add(Arc::clone(&watcher));
                    added.push(watcher);
                }
                assert_finds(&watchers, &added);
                let gone = added.swap_remove(number / 2);
                watchers.remove(&gone);
                assert_finds(&watchers, &added);
            }
        }
    }
}
