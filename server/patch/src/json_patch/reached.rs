//! The containers that operations of a JSON patch have accessed. They determine the order in which
//! upstream writes members.

use std::collections::BTreeMap;

use serde_json::Value;

/// The accessed containers of a document, by path element. Upstream decodes them into maps and writes
/// them sorted. There are at most as many as in the document. Values that an operation inserts keep the
/// order in which they were sent.
#[derive(Default)]
pub(super) struct Reached {
    below: BTreeMap<String, Reached>,
}

impl Reached {
    /// Records access to the containers on a path.
    pub(super) fn mark(&mut self, document: &Value, path: &str) {
        let Some((containers, _)) = path.rsplit_once('/') else { return };
        let (mut place, mut at) = (self, document);
        for step in containers.split('/').skip(1) {
            let step = unescape(step);
            let next = match at {
                Value::Object(map) => map.get(&step),
                Value::Array(items) => step.parse().ok().and_then(|index: usize| items.get(index)),
                _ => None,
            };
            let Some(next) = next.filter(|next| next.is_object() || next.is_array()) else { return };
            place = place.below.entry(step).or_default();
            at = next;
        }
    }

    /// Records access to the whole value at a path.
    pub(super) fn mark_whole(&mut self, path: &str, value: &Value) {
        if let Some((container, last)) = self.container(path).filter(|_| value.is_object() || value.is_array()) {
            container.below.insert(last, Reached::whole(value));
        }
    }

    fn whole(value: &Value) -> Reached {
        let is_container = |value: &Value| value.is_object() || value.is_array();
        let below = match value {
            Value::Object(map) => map
                .iter()
                .filter(|(_, value)| is_container(value))
                .map(|(key, value)| (key.clone(), Reached::whole(value)))
                .collect(),
            Value::Array(items) => (0..)
                .zip(items)
                .filter(|(_, value)| is_container(value))
                .map(|(at, value): (usize, _)| (at.to_string(), Reached::whole(value)))
                .collect(),
            _ => BTreeMap::new(),
        };
        Reached { below }
    }

    /// Sorts a value that is at a path of the document.
    pub(super) fn sort_part(&self, path: &str, value: &mut Value) {
        let mut steps = path.split('/').skip(1).map(unescape);
        if let Some(part) = steps.try_fold(self, |reached, step| reached.below.get(&step)) {
            part.sort(value);
        }
    }

    /// Returns the record of the container of a path, and the last element.
    fn container(&mut self, path: &str) -> Option<(&mut Reached, String)> {
        let (containers, last) = path.rsplit_once('/')?;
        let mut steps = containers.split('/').skip(1).map(unescape);
        let container = steps.try_fold(self, |reached, step| reached.below.get_mut(&step))?;
        Some((container, unescape(last)))
    }

    /// Removes and returns the record of the value at a path, which is removed or replaced.
    pub(super) fn take(&mut self, path: &str) -> Option<Reached> {
        let (container, last) = self.container(path)?;
        container.below.remove(&last)
    }

    /// Adds the record of a value that was moved to a path; `-` is the item at `end`.
    pub(super) fn put(&mut self, path: &str, end: Option<usize>, reached: Reached) {
        if let Some((container, last)) = self.container(path) {
            container.below.insert(end.map_or(last, |end| end.to_string()), reached);
        }
    }

    /// Updates the positions in a list after an item was inserted at an index, or removed from it.
    /// Returns the number of positions.
    pub(super) fn shift(&mut self, path: &str, index: usize, is_inserted: bool) -> usize {
        let Some((container, _)) = self.container(path) else { return 0 };
        let below = std::mem::take(&mut container.below);
        let count = below.len();
        let shifted = below.into_iter().filter_map(|(step, reached)| match step.parse::<usize>() {
            Ok(at) if at >= index && is_inserted => Some(((at + 1).to_string(), reached)),
            Ok(at) if at == index => None,
            Ok(at) if at > index => Some(((at - 1).to_string(), reached)),
            _ => Some((step, reached)),
        });
        container.below = shifted.collect();
        count
    }

    /// Sorts the members of a value and of its accessed containers.
    pub(super) fn sort(&self, value: &mut Value) {
        for (step, reached) in &self.below {
            let below = match value {
                Value::Object(map) => map.get_mut(step),
                Value::Array(items) => step.parse().ok().and_then(|index: usize| items.get_mut(index)),
                _ => None,
            };
            below.into_iter().for_each(|below| reached.sort(below));
        }
        if let Value::Object(map) = value {
            map.sort_keys();
        }
    }
}

/// Replaces the escapes in a step of a JSON pointer.
pub(super) fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}
