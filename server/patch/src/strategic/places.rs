//! Positions of list items by value or by merge key, without a search per item.

use std::collections::HashMap;

use serde_json::Value;

use crate::Error;

/// The first position of each item, by the value of its merge key, or by the whole item without a merge key.
pub(super) struct Places<'v> {
    key: &'v str,
    first: HashMap<&'v Value, usize>,
    /// The first item that is not an object although there is a merge key.
    not_an_object: Option<usize>,
}

impl<'v> Places<'v> {
    pub fn of(items: &'v [Value], key: &'v str) -> Self {
        let mut places = Places { key, first: HashMap::with_capacity(items.len()), not_an_object: None };
        for (index, item) in items.iter().enumerate() {
            if !key.is_empty() && !item.is_object() && places.not_an_object.is_none() {
                places.not_an_object = Some(index);
            }
            if let Some(value) = key_of(item, key) {
                places.first.entry(value).or_insert(index);
            }
        }
        places
    }

    /// Returns the position of the first item equal to this one.
    pub fn of_item(&self, item: &Value) -> Option<usize> {
        self.first.get(key_of(item, self.key)?).copied()
    }

    /// Returns the position of the object with this value of the merge key.
    ///
    /// # Errors
    ///
    /// When an item before it is not an object.
    pub fn of_value(&self, value: &Value) -> Result<Option<usize>, Error> {
        let found = self.first.get(value).copied();
        match self.not_an_object {
            Some(index) if found.is_none_or(|found| index < found) => Err(Error::ItemNotAnObject(index)),
            _ => Ok(found),
        }
    }
}

fn key_of<'v>(item: &'v Value, key: &str) -> Option<&'v Value> {
    if key.is_empty() { Some(item) } else { item.get(key) }
}
