//! What changed between two documents.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::Value;

use super::items::element_of;
use super::same;
use crate::field_set::{FieldSet, Filter, PathElement};
use crate::schema::{Atom, Kind, List, ListKind, Map, Type};

/// What changed between two documents; a field is in one of the sets at most.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    pub removed: FieldSet,
    pub modified: FieldSet,
    pub added: FieldSet,
}

impl Comparison {
    pub(crate) fn filtered(self, filter: &Filter) -> Self {
        Comparison {
            removed: filter.apply(self.removed),
            modified: filter.apply(self.modified),
            added: filter.apply(self.added),
        }
    }
}

/// What changed from one document to another (`TypedValue.Compare`).
pub fn compare(of: Type<'_>, old: &Value, new: &Value) -> Comparison {
    let mut walker = Walker::default();
    walker.pair(of, Some(old), Some(new));
    walker.below
}

type Side<'v> = Option<&'v Value>;

/// Compares at one place of the documents.
#[derive(Default)]
struct Walker {
    /// How the place itself changed.
    here: Change,
    /// What changed below it.
    below: Comparison,
}

#[derive(Default)]
struct Change {
    removed: bool,
    modified: bool,
    added: bool,
}

impl Walker {
    fn pair(&mut self, of: Type<'_>, old: Side<'_>, new: Side<'_>) {
        if let (Some(old), Some(new)) = (old, new)
            && old == new
        {
            return;
        }
        let atom = of.atom();
        let (old_is, new_is) = (old.map(|old| atom.deduce(old)), new.map(|new| atom.deduce(new)));
        let mut is_leaf = false;
        match (old_is, new_is) {
            (Some(is), None) | (None, Some(is)) => is_leaf = self.by_kind(is.0, &atom, old, new),
            (Some(old_is), Some(new_is)) => {
                if old_is != new_is {
                    self.by_kind(old_is.0, &atom, old, new);
                }
                is_leaf = self.by_kind(new_is.0, &atom, old, new);
            }
            (None, None) => {}
        }
        if is_leaf {
            return;
        }
        if old.is_none() {
            self.here.added = true;
        } else if new.is_none() {
            self.here.removed = true;
        }
    }

    /// Whether the pair is a leaf: it is then compared as a whole.
    fn by_kind(&mut self, kind: Option<Kind>, atom: &Atom<'_>, old: Side<'_>, new: Side<'_>) -> bool {
        match (kind, &atom.map, &atom.list) {
            (Some(Kind::Map), Some(map), _) => {
                let (old_map, new_map) = (old.and_then(Value::as_object), new.and_then(Value::as_object));
                let is_hollow = old_map.is_none_or(|map| map.is_empty()) && new_map.is_none_or(|map| map.is_empty());
                if !map.atomic && !is_hollow {
                    self.maps(map, old_map, new_map);
                    return false;
                }
            }
            (Some(Kind::List), _, Some(list)) => {
                let (old_list, new_list) = (old.and_then(Value::as_array), new.and_then(Value::as_array));
                let is_hollow = old_list.is_none_or(Vec::is_empty) && new_list.is_none_or(Vec::is_empty);
                if !matches!(list.kind, ListKind::Atomic) && !is_hollow {
                    self.lists(list, old_list, new_list);
                    return false;
                }
            }
            _ => {}
        }
        self.leaf(old, new);
        true
    }

    fn leaf(&mut self, old: Side<'_>, new: Side<'_>) {
        match (old, new) {
            (None, _) => self.here.added = true,
            (_, None) => self.here.removed = true,
            (Some(old), Some(new)) if !same(old, new) => self.here.modified = true,
            _ => {}
        }
    }

    fn below(&mut self, element: PathElement, of: Type<'_>, old: Side<'_>, new: Side<'_>) {
        let mut walker = Walker::default();
        walker.pair(of, old, new);
        let Walker { here, below } = walker;
        add(&mut self.below.removed, &element, here.removed, below.removed);
        add(&mut self.below.modified, &element, here.modified, below.modified);
        add(&mut self.below.added, &element, here.added, below.added);
    }

    fn maps(&mut self, map: &Map<'_>, old: Option<&Object>, new: Option<&Object>) {
        for (key, old) in old.into_iter().flatten() {
            let new = new.and_then(|new| new.get(key));
            if new != Some(old) {
                self.member(map, key, Some(old), new);
            }
        }
        for (key, new) in new.into_iter().flatten() {
            if old.is_none_or(|old| !old.contains_key(key)) {
                self.member(map, key, None, Some(new));
            }
        }
    }

    fn member(&mut self, map: &Map<'_>, key: &str, old: Side<'_>, new: Side<'_>) {
        if let Some(of) = map.member(key) {
            self.below(PathElement::field(key), of, old, new);
        }
    }

    fn lists(&mut self, list: &List<'_>, old: Option<&Vec<Value>>, new: Option<&Vec<Value>>) {
        let mut pairs: BTreeMap<PathElement, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
        for item in old.into_iter().flatten() {
            if let Ok(element) = element_of(list, item) {
                pairs.entry(element).or_default().0.push(item);
            }
        }
        for item in new.into_iter().flatten() {
            if let Ok(element) = element_of(list, item) {
                pairs.entry(element).or_default().1.push(item);
            }
        }
        for (element, (old, new)) in pairs {
            self.items(list, element, &old, &new);
        }
    }

    /// Items of one key. Several of them count as one field, without what is in them.
    fn items(&mut self, list: &List<'_>, element: PathElement, old: &[&Value], new: &[&Value]) {
        match (old, new) {
            ([] | [_], [] | [_]) => {
                self.below(element, list.items, old.first().copied(), new.first().copied());
            }
            ([_, _, ..], [_, _, ..]) => {
                let equal = old.len() == new.len() && old.iter().zip(new).all(|(old, new)| same(old, new));
                if !equal {
                    self.below.modified.members.insert(element);
                }
            }
            (_, [] | [_]) => {
                if let Some(new) = new.first() {
                    self.below(element.clone(), list.items, None, Some(new));
                }
                self.below.removed.members.insert(element);
            }
            _ => {
                if let Some(old) = old.first() {
                    self.below(element.clone(), list.items, Some(old), None);
                }
                self.below.added.members.insert(element);
            }
        }
    }
}

fn add(set: &mut FieldSet, element: &PathElement, is_member: bool, child: FieldSet) {
    if is_member {
        set.members.insert(element.clone());
    }
    if !child.is_empty() {
        match set.children.entry(element.clone()) {
            Entry::Vacant(place) => {
                place.insert(child);
            }
            Entry::Occupied(mut mine) => {
                let both = std::mem::take(mine.get_mut()).union(child);
                mine.insert(both);
            }
        }
    }
}

type Object = serde_json::Map<String, Value>;
