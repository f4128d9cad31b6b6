//! Removal of fields from a document.

use serde_json::{Map as Object, Value};

use super::items::element_of;
use crate::field_set::{FieldSet, PathElement};
use crate::schema::{AtomKind, List, ListKind, Map, SchemaType};

/// Returns the document without these fields (`TypedValue.RemoveItems`). Objects and lists that become
/// empty are kept.
pub fn remove_items(of: SchemaType<'_>, document: &Value, fields: &FieldSet) -> Value {
    let atom = of.atom();
    let emptied = match document {
        Value::Object(_) => Value::Object(Object::new()),
        Value::Array(_) => Value::Array(Vec::new()),
        _ => Value::Null,
    };
    match (atom.deduce(document).0, &atom.map, &atom.list, document) {
        (Some(AtomKind::Scalar), ..) => document.clone(),
        (Some(AtomKind::Map), Some(map), _, Value::Object(members)) if !map.atomic => from_map(map, members, fields),
        (Some(AtomKind::List), _, Some(list), Value::Array(items)) if !matches!(list.kind, ListKind::Atomic) => {
            from_list(list, items, fields)
        }
        _ => emptied,
    }
}

fn from_map(map: &Map<'_>, members: &Object<String, Value>, fields: &FieldSet) -> Value {
    let mut kept = Object::new();
    for (key, value) in members {
        let element = PathElement::field(key);
        if fields.has(std::slice::from_ref(&element)) {
            continue;
        }
        let value = match (fields.below(&element), map.member(key)) {
            (Some(below), Some(of)) => remove_items(of, value, below),
            _ => value.clone(),
        };
        kept.insert(key.clone(), value);
    }
    Value::Object(kept)
}

fn from_list(list: &List<'_>, items: &[Value], fields: &FieldSet) -> Value {
    let keep = |item: &Value| {
        let Ok(element) = element_of(list, item) else { return Some(item.clone()) };
        if fields.has(std::slice::from_ref(&element)) {
            return None;
        }
        match fields.below(&element) {
            Some(below) => Some(remove_items(list.items, item, below)),
            _ => Some(item.clone()),
        }
    };
    Value::Array(items.iter().filter_map(keep).collect())
}
