//! What operations of a JSON patch went through, which decides the order in which upstream writes members.

use std::collections::BTreeMap;

use serde_json::Value;

use super::unescape;

/// The containers of a document that operations went through, by the steps that lead to them:
/// upstream reads these into maps, and writes them sorted. There are no more of them than in the
/// document. What an operation puts into the document is as it was sent.
#[derive(Default)]
pub(super) struct Reached {
    below: BTreeMap<String, Reached>,
}

impl Reached {
    /// An operation goes through the containers on a path.
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

    /// An operation goes through all of the value at a path.
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

    /// Sorts a value that stands at a path of the document.
    pub(super) fn sort_part(&self, path: &str, value: &mut Value) {
        let mut steps = path.split('/').skip(1).map(unescape);
        if let Some(part) = steps.try_fold(self, |reached, step| reached.below.get(&step)) {
            part.sort(value);
        }
    }

    /// The place of the container of what a path names, and the last step.
    fn container(&mut self, path: &str) -> Option<(&mut Reached, String)> {
        let (containers, last) = path.rsplit_once('/')?;
        let mut steps = containers.split('/').skip(1).map(unescape);
        let container = steps.try_fold(self, |reached, step| reached.below.get_mut(&step))?;
        Some((container, unescape(last)))
    }

    /// Takes out what was reached of the value at a path, which goes or is replaced.
    pub(super) fn take(&mut self, path: &str) -> Option<Reached> {
        let (container, last) = self.container(path)?;
        container.below.remove(&last)
    }

    /// The value at the path came with what was reached of it; `-` is the item at `end`.
    pub(super) fn put(&mut self, path: &str, end: Option<usize>, reached: Reached) {
        if let Some((container, last)) = self.container(path) {
            container.below.insert(end.map_or(last, |end| end.to_string()), reached);
        }
    }

    /// Counts the places of a list again: an item was inserted at an index, or the one there was
    /// removed. Gives how many places there are.
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

    /// Sorts the members of what was reached of a value, the value itself included.
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
