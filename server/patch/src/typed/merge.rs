//! Merge of an applied configuration into a live object.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map as Object, Value};

use super::items::element_of;
use crate::field_set::PathElement;
use crate::schema::{AtomKind, List, ListKind, Map, SchemaType};

/// Merges an applied configuration into a live object (`TypedValue.Merge`). Its scalars and atomic
/// parts replace the live ones; maps and associative lists merge. Both must have passed
/// [`super::validate`].
pub fn merge(of: SchemaType<'_>, live: &Value, config: &Value) -> Value {
    let atom = of.atom();
    match (atom.deduce(config).0, &atom.map, &atom.list) {
        (Some(AtomKind::Map), Some(map), _) if !map.atomic => merge_maps(map, live, config),
        (Some(AtomKind::List), _, Some(list)) if !matches!(list.kind, ListKind::Atomic) => {
            merge_lists(list, live, config)
        }
        _ => config.clone(),
    }
}

fn merge_maps(map: &Map<'_>, live: &Value, config: &Value) -> Value {
    let live = live.as_object().filter(|live| !live.is_empty());
    let members = config.as_object().filter(|config| !config.is_empty());
    let (live, members) = match (live, members) {
        // Null and empty values do not remove live ones.
        (Some(live), None) => return Value::Object(live.clone()),
        (None, _) => return config.clone(),
        (Some(live), Some(members)) => (live, members),
    };
    let mut merged: Object<String, Value> = live.clone();
    for (key, value) in members {
        let value = match (merged.get(key), map.member(key)) {
            (Some(live), Some(of)) => merge(of, live, value),
            _ => value.clone(),
        };
        merged.insert(key.clone(), value);
    }
    Value::Object(merged)
}

fn merge_lists(list: &List<'_>, live: &Value, config: &Value) -> Value {
    let live = live.as_array().filter(|live| !live.is_empty());
    let items = config.as_array().filter(|config| !config.is_empty());
    match (live, items) {
        (Some(live), None) => Value::Array(live.clone()),
        (None, _) => config.clone(),
        (Some(live), Some(items)) => Value::Array(Merger::new(list, live, items).merge()),
    }
}

/// Merges two lists: applied items keep their order, and live ones stay next to their neighbours.
struct Merger<'l, 'v> {
    list: &'l List<'l>,
    live: VecDeque<(PathElement, &'v Value)>,
    config: VecDeque<(PathElement, &'v Value)>,
    /// Live items by key; `None` for keys with several items, which cannot be merged.
    live_by_key: BTreeMap<PathElement, Option<&'v Value>>,
    config_keys: BTreeSet<PathElement>,
    /// Keys in both lists, in applied order, that have not been merged yet.
    shared: VecDeque<PathElement>,
    done: BTreeSet<PathElement>,
    out: Vec<Value>,
}

impl<'l, 'v> Merger<'l, 'v> {
    fn new(list: &'l List<'l>, live: &'v [Value], config: &'v [Value]) -> Self {
        let index = |items: &'v [Value]| -> VecDeque<(PathElement, &'v Value)> {
            items.iter().filter_map(|item| Some((element_of(list, item).ok()?, item))).collect()
        };
        let (live, config) = (index(live), index(config));
        let mut live_by_key = BTreeMap::new();
        for (element, item) in &live {
            live_by_key.entry(element.clone()).and_modify(|found| *found = None).or_insert(Some(*item));
        }
        let config_keys = config.iter().map(|(element, _)| element.clone()).collect();
        let shared = config.iter().filter(|(element, _)| live_by_key.contains_key(element));
        let shared = shared.map(|(element, _)| element.clone()).collect();
        Merger { list, live, config, live_by_key, config_keys, shared, done: BTreeSet::new(), out: Vec::new() }
    }

    fn merge(mut self) -> Vec<Value> {
        loop {
            match (self.live.front(), self.config.front()) {
                (None, None) => return self.out,
                (Some((live, _)), Some((config, _))) if live == config => {
                    self.live.pop_front();
                    self.shared.pop_front();
                    self.take_config();
                }
                (Some((live, _)), Some(_))
                    if self.config_keys.contains(live) && self.shared.front().is_some_and(|next| next != live) =>
                {
                    // The item is applied too, at a later position.
                    self.live.pop_front();
                }
                (Some((live, item)), _) if !self.config_keys.contains(live) => {
                    self.out.push((*item).clone());
                    self.live.pop_front();
                }
                (Some((live, _)), None) if self.done.contains(live) => {
                    self.live.pop_front();
                }
                _ => {
                    if self.live.front().is_some_and(|(live, _)| self.done.contains(live)) {
                        self.live.pop_front();
                    }
                    if self.config.front().map(|(element, _)| element) == self.shared.front() {
                        self.shared.pop_front();
                    }
                    self.take_config();
                }
            }
        }
    }

    fn take_config(&mut self) {
        let Some((element, item)) = self.config.pop_front() else { return };
        let merged = match self.live_by_key.get(&element) {
            Some(Some(live)) => merge(self.list.items, live, item),
            _ => item.clone(),
        };
        self.done.insert(element);
        self.out.push(merged);
    }
}
