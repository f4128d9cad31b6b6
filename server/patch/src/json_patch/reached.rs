//! What operations of a JSON patch went through, which decides the order in which upstream writes members.

use std::collections::BTreeMap;

use serde_json::Value;

use super::unescape;

/// The containers of a document that operations went through, by the steps that lead to them: upstream reads these into maps, and
/// writes them sorted. There are no more of them than in the document. What an operation puts into the document is as it was sent.
#[derive(Clone, Default)]
pub(super) struct Reached {
    below: BTreeMap<String, Reached>,
}

impl Reached {
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

    /// Sorts a value that stands at a path of the document.
    pub(super) fn sort_part(&self, path: &str, value: &mut Value) {
        if let Some(part) = self.part(path) {
            part.sort(value);
        }
    }

    /// What was reached of the value at a path; nothing when no operation went through it.
    pub(super) fn part(&self, path: &str) -> Option<&Reached> {
        path.split('/').skip(1).map(unescape).try_fold(self, |reached, step| reached.below.get(&step))
    }

    /// The place of the container of what a path names, and the last step.
    fn container(&mut self, path: &str) -> Option<(&mut Reached, String)> {
        let (containers, last) = path.rsplit_once('/')?;
        let mut steps = containers.split('/').skip(1).map(unescape);
        let container = steps.try_fold(self, |reached, step| reached.below.get_mut(&step))?;
        Some((container, unescape(last)))
    }

    /// Another value stands at the path.
    pub(super) fn forget(&mut self, path: &str) {
        if let Some((container, last)) = self.container(path) {
            container.below.remove(&last);
        }
    }

    /// The value at the path came with what was reached of it; `-` is the item at `end`.
    pub(super) fn put(&mut self, path: &str, end: Option<usize>, reached: Reached) {
        if let Some((container, last)) = self.container(path) {
            container.below.insert(end.map_or(last, |end| end.to_string()), reached);
        }
    }

    /// An item came to be before those from an index of the list on, or the one there is gone. Gives how many places were looked at.
    pub(super) fn shift(&mut self, path: &str, index: usize, has_come: bool) -> usize {
        let Some((container, _)) = self.container(path) else { return 0 };
        let below = std::mem::take(&mut container.below);
        let count = below.len();
        let shifted = below.into_iter().filter_map(|(step, reached)| match step.parse::<usize>() {
            Ok(at) if at >= index && has_come => Some(((at + 1).to_string(), reached)),
            Ok(at) if at == index => None,
            Ok(at) if at > index => Some(((at - 1).to_string(), reached)),
            _ => Some((step, reached)),
        });
        container.below = shifted.collect();
        count
    }

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
