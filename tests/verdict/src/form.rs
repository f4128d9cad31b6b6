//! One form of what means the same: what a kind leaves out, and other spellings of quantities and
//! times.
//!
//! A field that is no `Option` does not tell its zero value from nothing, as in Go. A custom
//! resource does; so it is sent what the native kind would store of an object.

use codegen::model::{Field, Literal, Model, StructId, TypeRef};
use machinery::scalar::{Duration, Quantity, Time};
use serde_json::{Map, Value};

/// What becomes of a zero value that means nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Zero {
    /// It is left out.
    Absent,
    /// It is null, which takes a field away in a merge patch.
    Null,
    /// It is left out of an apply, and so is a null: a definition refuses it there, which other writes drop.
    Applied,
}

/// Rewrites an object of a struct; what is not declared stays.
pub fn canonical(model: &Model, id: StructId, value: &Value, zero: Zero) -> Value {
    let Some(members) = value.as_object() else { return value.clone() };
    let fields = &model.structs[id.0].fields;
    let mut out = Map::new();
    for (name, value) in members {
        let Some(field) = fields.iter().find(|field| field.json == *name && name != "metadata") else {
            out.insert(name.clone(), value.clone());
            continue;
        };
        let value = of_type(model, &field.ty, value, zero);
        let is_dropped_null = zero == Zero::Applied && value.is_null() && !field.required;
        if !is_dropped_null && !means_nothing(model, field, &value) {
            out.insert(name.clone(), value);
        } else if zero == Zero::Null {
            out.insert(name.clone(), Value::Null);
        }
    }
    Value::Object(out)
}

fn of_type(model: &Model, ty: &TypeRef, value: &Value, zero: Zero) -> Value {
    match (ty, value) {
        (TypeRef::Struct(id), value) => canonical(model, *id, value, zero),
        // What a patch says of a list is the whole of it.
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

/// Whether the native kind takes the value for nothing.
fn means_nothing(model: &Model, field: &Field, value: &Value) -> bool {
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

/// An object that was answered with, in one form: without metadata, without zeros, without nulls.
pub fn stored(model: &Model, id: StructId, value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(members) = value.as_object_mut() {
        ["metadata", "apiVersion", "kind"].into_iter().for_each(|name| drop(members.remove(name)));
    }
    let value = spelt(model, &TypeRef::Struct(id), &value);
    canonical(model, id, &value, Zero::Absent)
}

/// Quantities, times and durations as the native kind spells them.
fn spelt(model: &Model, ty: &TypeRef, value: &Value) -> Value {
    match (ty, value) {
        (TypeRef::Struct(id), Value::Object(members)) => {
            let fields = &model.structs[id.0].fields;
            let said = members.iter().filter(|(_, value)| !value.is_null());
            let each = said.map(|(name, value)| match fields.iter().find(|field| field.json == *name) {
                // An empty list or map is nothing to the native kind, which gives it its default
                // again.
                Some(field) if is_zero(value) && (value.is_array() || value.is_object()) && field.default.is_some() => {
                    (name.clone(), field.default.as_ref().map_or_else(|| value.clone(), literal))
                }
                Some(field) => (name.clone(), spelt(model, &field.ty, value)),
                None => (name.clone(), value.clone()),
            });
            each.collect::<Map<_, _>>().into()
        }
        (TypeRef::List(item), Value::Array(items)) => items.iter().map(|value| spelt(model, item, value)).collect(),
        (TypeRef::Map(item), Value::Object(entries)) => {
            let entries = entries.iter().map(|(key, value)| (key.clone(), spelt(model, item, value)));
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
