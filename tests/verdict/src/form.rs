//! The canonical form of an object: without omitted zero values, with canonical quantities and
//! times.
//!
//! A field that is not an `Option` does not distinguish its zero value from an absent one, as in
//! Go. A custom resource does. It is therefore sent the object as the native kind would store it.

use codegen::model::{Field, ListSemantics, Literal, Model, StructId, TypeRef};
use machinery::scalar::{Duration, Quantity, Time};
use serde_json::{Map, Value};

/// The canonical form of a zero value that equals absence.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Zero {
    /// It is omitted.
    Absent,
    /// It is null, which removes a field in a merge patch.
    Null,
    /// It is omitted from an apply, as is a null: a definition rejects a null there, while other
    /// writes drop it.
    Applied,
}

/// Rewrites an object of a struct; undeclared fields are unchanged.
pub fn canonical(model: &Model, id: StructId, value: &Value, zero: Zero) -> Value {
    let Some(members) = value.as_object() else { return value.clone() };
    let fields = &model.structs[id.0].fields;
    let mut out = Map::new();
    for (name, value) in members {
        let Some(field) = fields.iter().find(|field| field.json == *name && name != "metadata") else {
            out.insert(name.clone(), value.clone());
            continue;
        };
        let mut value = of_type(model, &field.ty, value, zero);
        if let Some(ListSemantics::Map(keys)) = &field.list {
            keys.iter().for_each(|key| unify_absent_keys(key, &mut value));
        }
        let is_dropped_null = zero == Zero::Applied && value.is_null() && !field.required;
        if !is_dropped_null && !is_absent(model, field, &value) {
            out.insert(name.clone(), value);
        } else if zero == Zero::Null {
            out.insert(name.clone(), Value::Null);
        }
    }
    Value::Object(out)
}

/// Removes a key from the items of a list in which it is empty, if there are several such items.
///
/// They are duplicates for the native kind. A definition distinguishes absent, null and empty keys.
fn unify_absent_keys(key: &str, value: &mut Value) {
    let is_absent = |item: &Value| item.get(key).is_none_or(|value| value.is_null() || value == "");
    let Some(items) = value.as_array_mut() else { return };
    let lacking: Vec<_> = items.iter_mut().filter(|item| is_absent(item)).filter_map(Value::as_object_mut).collect();
    if lacking.len() > 1 {
        lacking.into_iter().for_each(|members| drop(members.remove(key)));
    }
}

fn of_type(model: &Model, ty: &TypeRef, value: &Value, zero: Zero) -> Value {
    match (ty, value) {
        (TypeRef::Struct(id), value) => canonical(model, *id, value, zero),
        // A patch replaces a list as a whole.
        (TypeRef::List(item), Value::Array(items)) => {
            let zero = if zero == Zero::Null { Zero::Absent } else { zero };
            items.iter().map(|value| of_type(model, item, value, zero)).collect()
        }
        (TypeRef::Map(item), Value::Object(entries)) => {
            let entries = entries.iter().map(|(key, value)| (key.clone(), of_type(model, item, value, zero)));
            entries.collect::<Map<_, _>>().into()
        }
        _ => value.clone(),
    }
}

/// Reports whether the native kind treats the value as absent.
fn is_absent(model: &Model, field: &Field, value: &Value) -> bool {
    let is_optional = !field.required && !field.nullable;
    is_optional
        && match (&field.ty, value) {
            (TypeRef::Struct(id), Value::Object(members)) => {
                let of = &model.structs[id.0];
                members.iter().all(|(name, value)| {
                    let field = of.fields.iter().find(|field| field.json == *name);
                    field.is_some_and(|field| !field.nullable && is_zero(value) && !value.is_object())
                })
            }
            (TypeRef::List(_), Value::Array(_)) | (TypeRef::Map(_), Value::Object(_)) | (_, Value::Null) => {
                is_zero(value)
            }
            (TypeRef::String | TypeRef::Enum(_) | TypeRef::Bytes, Value::String(text)) => text.is_empty(),
            (TypeRef::Bool, Value::Bool(_)) => is_zero(value),
            (TypeRef::I32 | TypeRef::I64 | TypeRef::F64, Value::Number(_)) => is_zero(value),
            _ => false,
        }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// Returns an object from a response in canonical form: without metadata, zero values and nulls.
pub fn stored(model: &Model, id: StructId, value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(members) = value.as_object_mut() {
        ["metadata", "apiVersion", "kind"].into_iter().for_each(|name| drop(members.remove(name)));
    }
    let value = canonical_spelling(model, &TypeRef::Struct(id), &value);
    canonical(model, id, &value, Zero::Absent)
}

/// Returns quantities, times and durations in the spelling of the native kind.
fn canonical_spelling(model: &Model, ty: &TypeRef, value: &Value) -> Value {
    match (ty, value) {
        (TypeRef::Struct(id), Value::Object(members)) => {
            let fields = &model.structs[id.0].fields;
            let present = members.iter().filter(|(_, value)| !value.is_null());
            let each = present.map(|(name, value)| match fields.iter().find(|field| field.json == *name) {
                // The native kind treats an empty list or map as absent, and sets its default
                // again.
                Some(field) if is_zero(value) && (value.is_array() || value.is_object()) && field.default.is_some() => {
                    (name.clone(), field.default.as_ref().map_or_else(|| value.clone(), literal))
                }
                Some(field) => (name.clone(), canonical_spelling(model, &field.ty, value)),
                None => (name.clone(), value.clone()),
            });
            each.collect::<Map<_, _>>().into()
        }
        (TypeRef::List(item), Value::Array(items)) => {
            items.iter().map(|value| canonical_spelling(model, item, value)).collect()
        }
        (TypeRef::Map(item), Value::Object(entries)) => {
            let entries = entries.iter().map(|(key, value)| (key.clone(), canonical_spelling(model, item, value)));
            entries.collect::<Map<_, _>>().into()
        }
        (TypeRef::Quantity, Value::Number(number)) => canonical_text::<Quantity>(&number.to_string()),
        (TypeRef::Quantity, Value::String(text)) => canonical_text::<Quantity>(text),
        (TypeRef::Duration, Value::String(text)) => canonical_text::<Duration>(text),
        (TypeRef::Time, Value::String(text)) => canonical_text::<Time>(text),
        (TypeRef::F64, Value::Number(number)) => number.as_f64().into(),
        _ => value.clone(),
    }
}

fn literal(value: &Literal) -> Value {
    match value {
        Literal::Bool(value) => (*value).into(),
        Literal::Int(value) => (*value).into(),
        Literal::Float(value) => (*value).into(),
        Literal::String(value) => value.clone().into(),
        Literal::List(items) => items.iter().map(literal).collect(),
        Literal::Object(members) => members.iter().map(|(name, value)| (name.clone(), literal(value))).collect(),
    }
}

fn canonical_text<T: std::str::FromStr + ToString>(text: &str) -> Value {
    text.parse::<T>().map_or_else(|_| text.to_owned(), |value| value.to_string()).into()
}
