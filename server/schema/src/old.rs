//! Which part of a stored object a part of its successor corresponds to (`cel/common.CorrelatedObject`): what did not change may stay as
//! invalid as it was.

use serde_json::Value;

use crate::{ListType, Schema};

/// A value, the one that it succeeds, and the schema of both.
#[derive(Clone, Copy)]
pub struct Pair<'v> {
    pub new: &'v Value,
    pub old: &'v Value,
    pub schema: &'v Schema,
}

impl<'v> Pair<'v> {
    /// The pair of a member that both have.
    pub fn member(self, name: &str) -> Option<Pair<'v>> {
        let schema = self.schema.member(name)?;
        Some(Pair { new: self.new.get(name)?, old: self.old.get(name)?, schema })
    }

    /// The pair of an item: items of maps correspond by their keys, others do not.
    pub fn item(self, index: usize) -> Option<Pair<'v>> {
        let schema = self.schema.items.as_deref()?;
        if self.schema.list != ListType::Map {
            return None;
        }
        let new = self.new.as_array()?.get(index)?;
        let keys = &self.schema.list_keys;
        let same = |old: &&Value| old.is_object() && keys.iter().all(|key| old.get(&**key) == new.get(&**key));
        let old = self.old.as_array()?.iter().find(same).filter(|_| new.is_object())?;
        Some(Pair { new, old, schema })
    }

    /// Whether nothing changed. What the schema does not know counts as changed, as upstream has it.
    pub fn is_same(self) -> bool {
        match (self.new, self.old) {
            (Value::Array(new), Value::Array(old)) if new.len() != old.len() => false,
            (Value::Array(new), Value::Array(_)) if self.schema.list == ListType::Map => {
                (0..new.len()).all(|index| self.item(index).is_some_and(Pair::is_same))
            }
            (Value::Object(new), Value::Object(old)) if new.len() != old.len() => false,
            (Value::Object(new), Value::Object(_)) => {
                new.keys().all(|name| self.member(name).is_some_and(Pair::is_same))
            }
            (new, old) => new == old,
        }
    }
}
