//! Checks that items of sets and keys of maps are unique (`schema/listtype`).

use std::collections::HashMap;

use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::json;
use serde_json::{Map, Value};

use crate::result::shown;
use crate::{Additional, ListType, Schema};

/// Adds an error for each duplicate item of the sets and each duplicate key of the maps in a value.
pub fn check_lists(path: &Path<'_>, schema: &Schema, value: &Value, errors: &mut Vec<FieldError>) {
    if !schema.below.lists {
        return;
    }
    match value {
        Value::Object(members) => {
            for (name, value) in sorted(members) {
                if let Additional::Schema(additional) = &schema.additional {
                    check_lists(&path.key(name), additional, value, errors);
                }
                if let Some(property) = schema.property(name) {
                    check_lists(&path.child(name), property, value, errors);
                }
            }
        }
        Value::Array(items) => {
            match schema.list {
                ListType::Atomic => {}
                ListType::Set => {
                    let texts = items.iter().map(text);
                    for index in repeated(texts) {
                        errors.push(FieldError::duplicate(&path.index(index), shown(&items[index])));
                    }
                }
                ListType::Map => check_map(path, schema, items, errors),
            }
            if let Some(of) = &schema.items {
                for (index, item) in items.iter().enumerate() {
                    check_lists(&path.index(index), of, item, errors);
                }
            }
        }
        _ => {}
    }
}

/// Members sorted by name, so that errors have a stable order.
pub(crate) fn sorted(members: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    members
}

fn check_map(path: &Path<'_>, schema: &Schema, items: &[Value], errors: &mut Vec<FieldError>) {
    if let Some(index) = items.iter().position(|item| !item.is_object() && !item.is_null()) {
        let why = "must be an object for an array of list-type map";
        errors.push(FieldError::invalid(&path.index(index), shown(&items[index]), why));
        return;
    }
    let keys: Vec<Value> = items.iter().map(|item| key_of(item, &schema.list_keys)).collect();
    for index in repeated(keys.iter().map(text)) {
        errors.push(FieldError::duplicate(&path.index(index), shown(&keys[index])));
    }
}

pub(crate) fn key_of(item: &Value, names: &[Box<str>]) -> Value {
    let key = names.iter().filter_map(|name| item.get(&**name).map(|value| (name.to_string(), value.clone())));
    Value::Object(key.collect())
}

pub(crate) fn text(value: &Value) -> Vec<u8> {
    let mut text = Vec::new();
    json::encode_value(value, &mut text);
    text
}

/// The index of the second occurrence of each text that occurs more than once.
pub(crate) fn repeated(texts: impl Iterator<Item = Vec<u8>>) -> Vec<usize> {
    let mut seen: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut found = Vec::new();
    for (index, text) in texts.enumerate() {
        let times = seen.entry(text).or_default();
        *times += 1;
        if *times == 2 {
            found.push(index);
        }
    }
    found
}
