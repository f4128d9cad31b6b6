//! Compares a value with what `prost` read, field by field, by protobuf numbers.

use std::fmt::Debug;

use machinery::def::StructDef;
use machinery::reflect::{List, Map, Ref, Value};
use machinery::scalar::{IntOrString, MicroTime, Time};
use prost_reflect::{DynamicMessage, FieldDescriptor, MapKey, ReflectMessage, Value as Other};

/// Appends a line for every difference.
pub fn compare(value: Ref<'_>, message: &DynamicMessage, at: &str, out: &mut Vec<String>) {
    if message.unknown_fields().next().is_some() {
        out.push(format!("{at}: fields that the file does not know"));
    }
    same_numbers(value.def(), message, at, out);
    for (index, field) in value.def().fields.iter().enumerate().filter(|(_, field)| field.number != 0) {
        if let Some(descriptor) = message.descriptor().get_field(field.number) {
            let at = format!("{at}.{}", descriptor.name());
            compare_field(value.get(index), message, &descriptor, &at, out);
        }
    }
}

/// Both sides know fields of the same numbers.
fn same_numbers(def: &StructDef, message: &DynamicMessage, at: &str, out: &mut Vec<String>) {
    let mut ours: Vec<u32> = def.fields.iter().map(|field| field.number).filter(|number| *number != 0).collect();
    let mut theirs: Vec<u32> = message.descriptor().fields().map(|field| field.number()).collect();
    ours.sort_unstable();
    theirs.sort_unstable();
    if ours != theirs {
        out.push(format!("{at}: numbers {ours:?} here, {theirs:?} in {}", message.descriptor().full_name()));
    }
}

fn compare_field(value: Value<'_>, message: &DynamicMessage, field: &FieldDescriptor, at: &str, out: &mut Vec<String>) {
    let (has, read) = (message.has_field(field), message.get_field(field));
    let read = read.as_ref();
    match value {
        Value::Null => equal(&has, &false, at, out),
        // Go's nil, which is not written.
        Value::Bytes(bytes) if bytes.is_empty() => equal(read, &Other::Bytes(bytes.clone()), at, out),
        Value::List(list) => compare_list(items(list), read, at, out),
        Value::StructList(list) => compare_list(list.iter().map(Value::Struct).collect(), read, at, out),
        Value::Map(map) => compare_map(entries(map), read, at, out),
        Value::StructMap(map) => {
            let mut pairs = Vec::new();
            map.for_each(|key, value| pairs.push((key, Value::Struct(value))));
            compare_map(pairs, read, at, out);
        }
        one => {
            equal(&has, &true, at, out);
            compare_one(one, read, at, out);
        }
    }
}

fn compare_list(ours: Vec<Value<'_>>, read: &Other, at: &str, out: &mut Vec<String>) {
    let Some(theirs) = read.as_list() else { return out.push(format!("{at}: a list, read as {read:?}")) };
    equal(&theirs.len(), &ours.len(), at, out);
    for (index, (ours, theirs)) in ours.into_iter().zip(theirs).enumerate() {
        compare_one(ours, theirs, &format!("{at}[{index}]"), out);
    }
}

fn compare_map(ours: Vec<(&str, Value<'_>)>, read: &Other, at: &str, out: &mut Vec<String>) {
    let Some(theirs) = read.as_map() else { return out.push(format!("{at}: a map, read as {read:?}")) };
    equal(&theirs.len(), &ours.len(), at, out);
    for (key, ours) in ours {
        match theirs.get(&MapKey::String(key.to_owned())) {
            Some(theirs) => compare_one(ours, theirs, &format!("{at}[{key:?}]"), out),
            None => out.push(format!("{at}: no key {key:?}")),
        }
    }
}

/// A struct, or a scalar: plain, or one of the messages that stand for scalars.
fn compare_one(value: Value<'_>, read: &Other, at: &str, out: &mut Vec<String>) {
    let plain = match value {
        Value::Bool(v) => Other::Bool(v),
        Value::I32(v) => Other::I32(v),
        Value::I64(v) => Other::I64(v),
        Value::F64(v) => Other::F64(v),
        Value::String(v) => Other::String(v.to_owned()),
        Value::Bytes(v) => Other::Bytes(v.clone()),
        _ => {
            let Some(message) = read.as_message() else {
                return out.push(format!("{at}: a message, read as {read:?}"));
            };
            return match value {
                Value::Struct(inner) => compare(inner, message, at, out),
                scalar => compare_scalar(scalar, message, at, out),
            };
        }
    };
    equal(read, &plain, at, out);
}

fn compare_scalar(value: Value<'_>, message: &DynamicMessage, at: &str, out: &mut Vec<String>) {
    let (name, fields) = match value {
        Value::Quantity(v) => {
            let mut text = Vec::new();
            v.append_to(&mut text);
            ("api.resource.Quantity", vec![Other::String(String::from_utf8(text).expect("text"))])
        }
        Value::Time(v) => ("meta.v1.Time", timestamp(v == Time::ZERO, v.unix(), 0)),
        Value::MicroTime(v) => ("meta.v1.MicroTime", timestamp(v == MicroTime::ZERO, v.unix().0, v.unix().1)),
        Value::Duration(v) => ("meta.v1.Duration", vec![Other::I64(v.nanos())]),
        Value::IntOrString(IntOrString::Int(v)) => {
            ("intstr.IntOrString", vec![Other::I64(0), Other::I32(*v), Other::String(String::new())])
        }
        Value::IntOrString(IntOrString::String(v)) => {
            ("intstr.IntOrString", vec![Other::I64(1), Other::I32(0), Other::String(v.clone())])
        }
        Value::RawExtension(v) => ("runtime.RawExtension", vec![Other::Bytes(v.as_bytes().clone())]),
        Value::FieldsV1(v) => ("meta.v1.FieldsV1", vec![Other::Bytes(v.as_bytes().clone())]),
        Value::Json(v) => (".JSON", vec![Other::Bytes(v.as_bytes().clone())]),
        other => return out.push(format!("{at}: not a scalar: {}", other.is_empty())),
    };
    let descriptor = message.descriptor();
    if !descriptor.full_name().ends_with(name) {
        out.push(format!("{at}: a {name}, said to be a {}", descriptor.full_name()));
    }
    for (number, want) in (1..).zip(&fields) {
        match message.get_field_by_number(number) {
            Some(read) => equal(read.as_ref(), want, &format!("{at}#{number}"), out),
            None => out.push(format!("{at}: no field {number}")),
        }
    }
}

/// No time is an empty message.
fn timestamp(zero: bool, seconds: i64, nanos: i32) -> Vec<Other> {
    if zero { vec![Other::I64(0), Other::I32(0)] } else { vec![Other::I64(seconds), Other::I32(nanos)] }
}

fn equal<T: PartialEq + Debug>(read: &T, want: &T, at: &str, out: &mut Vec<String>) {
    if read != want {
        out.push(format!("{at}: read {read:?}, want {want:?}"));
    }
}

macro_rules! per_scalar {
    (copied: $($copied:ident),*; borrowed: $($borrowed:ident),*) => {
        fn items(list: List<'_>) -> Vec<Value<'_>> {
            match list {
                $(List::$copied(v) => v.iter().map(|v| Value::$copied(*v)).collect(),)*
                $(List::$borrowed(v) => v.iter().map(|v| Value::$borrowed(v)).collect(),)*
            }
        }

        fn entries(map: Map<'_>) -> Vec<(&str, Value<'_>)> {
            match map {
                $(Map::$copied(v) => v.iter().map(|(k, v)| (k.as_str(), Value::$copied(*v))).collect(),)*
                $(Map::$borrowed(v) => v.iter().map(|(k, v)| (k.as_str(), Value::$borrowed(v))).collect(),)*
            }
        }
    };
}
per_scalar!(
    copied: Bool, I32, I64, F64, Time, MicroTime, Duration;
    borrowed: String, Bytes, Quantity, IntOrString, RawExtension, FieldsV1, Json, Document
);
