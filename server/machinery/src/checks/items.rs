//! State of a visited list: which items and values came before the current one.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::Condition;
use super::of::{Of, text_of};
use crate::def::FieldDef;
use crate::reflect::{FieldAccessor, Ref, Value};

/// The items of a list that is being visited.
pub(super) struct Items<'a> {
    count: usize,
    /// The list, and the number of items visited so far.
    list: Value<'a>,
    met: Cell<usize>,
    /// For each list of conditions, by address: how many items were evaluated, and whether one of
    /// them met the conditions.
    preceded: RefCell<HashMap<usize, (usize, bool)>>,
    /// The values seen so far, with the field that they belong to.
    seen: RefCell<HashSet<(usize, String)>>,
    /// The stored list.
    old: Option<Value<'a>>,
    /// The values in its items, by field; filled on demand.
    stored: RefCell<HashMap<usize, HashSet<String>>>,
}

impl<'a> Items<'a> {
    /// Creates the state for a list of `count` items, none of which was visited.
    pub fn new(count: usize, list: Value<'a>, old: Option<Value<'a>>) -> Self {
        let (met, preceded, seen, stored) = Default::default();
        Items { count, list, met, preceded, seen, old, stored }
    }

    /// Whether an item before the current one meets conditions. Each item is evaluated once.
    pub fn is_preceded(&self, conditions: &[Condition], meets: impl Fn(Ref<'a>) -> bool) -> bool {
        let Value::StructList(list) = self.list else { return false };
        let before = self.met.get().saturating_sub(1);
        let mut preceded = self.preceded.borrow_mut();
        let (evaluated, is_met) = preceded.entry(conditions.as_ptr().addr()).or_default();
        if !*is_met && *evaluated < before {
            *is_met = (*evaluated..before).filter_map(|index| list.get(index)).any(meets);
            *evaluated = before;
        }
        *is_met
    }

    /// Whether the stored list has an item with the value of a field.
    pub fn is_stored(&self, of: &Of<'_>) -> bool {
        if let (Value::Struct(_), Some(Value::StructList(stored))) = (of.new, self.old) {
            return stored.iter().any(|item| Value::Struct(item) == of.new);
        }
        let mut stored = self.stored.borrow_mut();
        let values = stored.entry(of.place()).or_insert_with(|| self.stored_values(of.field.map(FieldAccessor::field)));
        text_of(of.new).is_some_and(|text| values.contains(text.as_ref()))
    }

    fn stored_values(&self, field: Option<&FieldDef>) -> HashSet<String> {
        let name = field.map_or("", |field| field.json);
        let values: Vec<Value<'_>> = match self.old {
            Some(Value::List(list)) => (0..list.len()).filter_map(|index| list.get(index)).collect(),
            Some(Value::StructList(list)) => list.iter().filter_map(|item| item.by_name(name)).collect(),
            _ => Vec::new(),
        };
        values.into_iter().filter_map(text_of).map(Cow::into_owned).collect()
    }

    /// Records that the item at an index is being visited.
    pub fn meet(&self, index: usize) {
        self.met.set(index + 1);
    }

    pub fn are_several(&self) -> bool {
        self.count > 1
    }

    /// Records the value of a field, or its values in these fields. Returns false if it was
    /// recorded before.
    pub fn add(&self, of: &Of<'_>, fields: &[&[&str]]) -> bool {
        let mut text = String::new();
        let mut add = |value: Value<'_>| {
            let value = text_of(value).unwrap_or_default();
            let _ = write!(text, "{}:{value}", value.len());
        };
        if fields.is_empty() {
            add(of.new);
        }
        fields.iter().for_each(|field| add(of.at(field).new));
        self.seen.borrow_mut().insert((of.place(), text))
    }
}
