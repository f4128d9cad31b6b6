//! Correlates parts of an updated object with parts of the old object
//! (`cel/common.CorrelatedObject`).
//!
//! Unchanged parts may stay invalid (ratcheting).

use std::collections::HashMap;

use serde_json::Value;

use crate::lists::{key_of, text};
use crate::{ListType, Schema};

/// A new value, the corresponding old value, and the schema of both.
#[derive(Clone, Copy)]
pub struct Pair<'v> {
    pub new: &'v Value,
    pub old: &'v Value,
    pub schema: &'v Schema,
}

impl<'v> Pair<'v> {
    /// The pair of a member that is in both values.
    pub fn member(self, name: &str) -> Option<Pair<'v>> {
        let schema = self.schema.member(name)?;
        Some(Pair { new: self.new.get(name)?, old: self.old.get(name)?, schema })
    }

    /// The pair of each item of a list. Items of a list of type map correlate by key; other items
    /// do not. Empty where no item has a pair.
    pub fn items(self) -> Vec<Option<Pair<'v>>> {
        let (Some(schema), ListType::Map) = (self.schema.items.as_deref(), self.schema.list) else { return Vec::new() };
        let (Value::Array(new), Value::Array(old)) = (self.new, self.old) else { return Vec::new() };
        let key = |item: &Value| item.is_object().then(|| text(&key_of(item, &self.schema.list_keys)));
        let mut by_key = HashMap::with_capacity(old.len());
        for old in old {
            if let Some(key) = key(old) {
                by_key.entry(key).or_insert(old);
            }
        }
        let pair = |new| key(new).and_then(|key| by_key.get(&key).map(|old| Pair { new, old, schema }));
        new.iter().map(pair).collect()
    }

    fn has_same_items(self) -> bool {
        let pairs = self.items();
        !pairs.is_empty() && pairs.into_iter().all(|pair| pair.is_some_and(Pair::is_same))
    }

    /// Whether both values are equal. As upstream, fields that the schema does not specify count as
    /// changed.
    pub fn is_same(self) -> bool {
        match (self.new, self.old) {
            (Value::Array(new), Value::Array(old)) if new.len() != old.len() => false,
            (Value::Array(new), Value::Array(_)) if self.schema.list == ListType::Map => {
                new.is_empty() || self.has_same_items()
            }
            (Value::Object(new), Value::Object(old)) if new.len() != old.len() => false,
            (Value::Object(new), Value::Object(_)) => {
                new.keys().all(|name| self.member(name).is_some_and(Pair::is_same))
            }
            (new, old) => new == old,
        }
    }
}
