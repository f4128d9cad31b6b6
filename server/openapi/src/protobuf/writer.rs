//! Encodes JSON values along tables of protobuf messages.

use serde_json::{Map, Value};

/// A message: its fields by JSON member, sorted by number.
pub(super) struct Message {
    pub fields: &'static [MessageField],
    /// Number of the repeated field for extensions; 0 if there is none.
    pub extensions: u32,
}

/// A JSON member and its place in the message.
pub(super) struct MessageField {
    pub key: &'static str,
    /// Field numbers from the outer message inwards: gnostic wraps many values in messages of a
    /// single field.
    pub path: &'static [u32],
    pub shape: Shape,
}

/// The shape of a member.
pub(super) enum Shape {
    /// A string or a list of strings.
    Text,
    Flag,
    Integer,
    Number,
    /// Any value, as YAML text.
    Any,
    /// A list of values, each as YAML text.
    Anys,
    /// A scalar as a oneof of number (1), boolean (2) and string (3).
    Scalar,
    /// An object or a list of objects.
    Message(OneofSelector),
    /// An object (in field 1) or a boolean (in field 2).
    MessageOrFlag(OneofSelector),
    /// An object that is encoded as entries of name and value.
    Named(OneofSelector),
    /// A list of objects that are encoded as entries of name and list of strings.
    NamedTexts,
}

/// Selects the message of an object, and the numbers of the fields around it: gnostic's `oneof`s.
pub(super) type OneofSelector = fn(&Value) -> (&'static [u32], &'static Message);

/// Creates a table entry.
pub(super) const fn field(key: &'static str, path: &'static [u32], shape: Shape) -> MessageField {
    MessageField { key, path, shape }
}

/// Encodes a message.
pub(super) fn message(table: &'static Message, value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    let Value::Object(members) = value else { return out };
    for field in table.fields {
        if let Some(value) = members.get(field.key) {
            put_field(&mut out, field, value);
        }
    }
    put_extensions(&mut out, table.extensions, members);
    out
}

fn put_extensions(out: &mut Vec<u8>, number: u32, members: &Map<String, Value>) {
    if number == 0 {
        return;
    }
    for (key, value) in members.iter().filter(|(key, _)| key.starts_with("x-")) {
        put_bytes(out, number, &entry(key, &any(value)));
    }
}

fn put_field(out: &mut Vec<u8>, field: &MessageField, value: &Value) {
    let Some((last, wrappers)) = field.path.split_last() else { return };
    let mut inner = Vec::new();
    put_value(&mut inner, *last, &field.shape, value);
    if !wrappers.is_empty() || !inner.is_empty() {
        out.extend(wrap(wrappers, inner));
    }
}

fn put_value(out: &mut Vec<u8>, number: u32, shape: &Shape, value: &Value) {
    match (shape, value) {
        (Shape::Text | Shape::Message(_) | Shape::Anys | Shape::NamedTexts, Value::Array(items)) => {
            items.iter().for_each(|item| put_one(out, number, shape, item));
        }
        _ => put_one(out, number, shape, value),
    }
}

fn put_one(out: &mut Vec<u8>, number: u32, shape: &Shape, value: &Value) {
    match shape {
        Shape::Text => put_bytes(out, number, value.as_str().unwrap_or_default().as_bytes()),
        Shape::Flag => put_flag(out, number, value),
        Shape::Integer => put_varint(out, number, value.as_i64().unwrap_or_default().cast_unsigned()),
        Shape::Number => put_double(out, number, value),
        Shape::Any | Shape::Anys => put_bytes(out, number, &any(value)),
        Shape::Scalar => put_scalar(out, number, value),
        Shape::Message(choice) => put_bytes(out, number, &chosen(*choice, value)),
        Shape::MessageOrFlag(choice) => {
            let mut inner = Vec::new();
            match value {
                Value::Bool(_) => put_flag(&mut inner, 2, value),
                _ => put_bytes(&mut inner, 1, &chosen(*choice, value)),
            }
            put_bytes(out, number, &inner);
        }
        Shape::Named(choice) => {
            for (name, value) in value.as_object().into_iter().flatten() {
                put_bytes(out, number, &entry(name, &chosen(*choice, value)));
            }
        }
        Shape::NamedTexts => {
            let mut requirement = Vec::new();
            for (name, values) in value.as_object().into_iter().flatten() {
                let mut texts = Vec::new();
                put_value(&mut texts, 1, &Shape::Text, values);
                put_bytes(&mut requirement, 1, &entry(name, &texts));
            }
            put_bytes(out, number, &requirement);
        }
    }
}

fn chosen(choice: OneofSelector, value: &Value) -> Vec<u8> {
    let (path, table) = choice(value);
    wrap(path, message(table, value))
}

/// Encodes a `NamedX`: name (1) and value (2).
fn entry(name: &str, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len() + value.len() + 8);
    put_bytes(&mut out, 1, name.as_bytes());
    put_bytes(&mut out, 2, value);
    out
}

/// Encodes an `Any`: text in field 2. JSON is valid YAML.
fn any(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    put_bytes(&mut out, 2, format!("{value}\n").as_bytes());
    out
}

fn put_scalar(out: &mut Vec<u8>, number: u32, value: &Value) {
    let mut inner = Vec::new();
    match value {
        Value::Number(_) => put_double(&mut inner, 1, value),
        Value::Bool(flag) => put_varint(&mut inner, 2, u64::from(*flag)),
        Value::String(text) => put_bytes(&mut inner, 3, text.as_bytes()),
        // The message does not represent lists and objects; the empty message records that there is
        // a default.
        _ => {}
    }
    put_bytes(out, number, &inner);
}

/// As for every plain field of proto3, false is not written.
fn put_flag(out: &mut Vec<u8>, number: u32, value: &Value) {
    if value.as_bool() == Some(true) {
        put_varint(out, number, 1);
    }
}

fn put_double(out: &mut Vec<u8>, number: u32, value: &Value) {
    put_tag(out, number, 1);
    out.extend(value.as_f64().unwrap_or_default().to_le_bytes());
}

fn put_varint(out: &mut Vec<u8>, number: u32, value: u64) {
    put_tag(out, number, 0);
    put_raw_varint(out, value);
}

fn put_bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_tag(out, number, 2);
    put_raw_varint(out, bytes.len() as u64);
    out.extend(bytes);
}

fn put_tag(out: &mut Vec<u8>, number: u32, wire_type: u64) {
    put_raw_varint(out, u64::from(number) << 3 | wire_type);
}

fn put_raw_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Wraps `inner` in nested messages with one field each.
fn wrap(path: &[u32], inner: Vec<u8>) -> Vec<u8> {
    path.iter().rev().fold(inner, |inner, number| {
        let mut out = Vec::with_capacity(inner.len() + 6);
        put_bytes(&mut out, *number, &inner);
        out
    })
}
