//! Encodes a described struct as Go's `encoding/json` does for kube-apiserver.
//!
//! Fields are in declaration order with `omitempty`, maps are sorted, and HTML is escaped. There is
//! no trailing line break: upstream's stream encoder adds one to each object, here the caller does.

use super::scalars::{JsonScalar, write_list, write_map};
use super::{open, write};
use crate::def::{JsonForm, Shape};
use crate::reflect::{FlatField, Ref, Value};
use crate::scalar::pretty;

/// Appends a struct as JSON.
pub fn encode(value: Ref<'_>, out: &mut Vec<u8>) {
    structure(value, out);
}

/// Appends an object as JSON with this version and kind.
///
/// They replace those of the object: stored objects and list items have none, and one stored object
/// is served in several versions.
pub fn encode_object(api_version: &str, kind: &str, value: Ref<'_>, out: &mut Vec<u8>) {
    if value.def().json_form == JsonForm::Open {
        return open::encode_object(api_version, kind, value, out);
    }
    let start = out.len();
    for (key, text) in [(",\"kind\":", kind), (",\"apiVersion\":", api_version)] {
        if !text.is_empty() {
            out.extend_from_slice(key.as_bytes());
            write::string(out, text);
        }
    }
    let has_type_meta = matches!(&value.def().tables().json[..], [kind, api_version, ..]
        if kind.field.json == "kind" && api_version.field.json == "apiVersion");
    fields(value, if has_type_meta { 2 } else { 0 }, out);
    close(start, out);
}

/// Appends a struct as JSON with line breaks and an indentation of two spaces, as for
/// `?pretty=true` and `curl`.
pub fn encode_pretty(value: Ref<'_>, out: &mut Vec<u8>) {
    let mut compact = Vec::new();
    encode(value, &mut compact);
    pretty(&compact, out);
}

/// Appends the members of a struct by its descriptor.
#[doc(hidden)]
pub fn walk_members(value: Ref<'_>, out: &mut Vec<u8>) {
    fields(value, 0, out);
}

pub(super) fn structure(value: Ref<'_>, out: &mut Vec<u8>) {
    match value.def().json_form {
        JsonForm::Fields => {
            let start = out.len();
            if !value.write_members(out) {
                walk_members(value, out);
            }
            close(start, out);
        }
        JsonForm::Open => open::encode(value, out),
        JsonForm::Items => match value.def().tables().json.first() {
            Some(flat) => write_value(&value.get_flat(0), flat, out),
            None => out.extend_from_slice(b"null"),
        },
        JsonForm::SchemaOrArray => first_of(value, &["jsonSchemas", "schema"], out),
        JsonForm::SchemaOrStrings => first_of(value, &["property", "schema"], out),
        JsonForm::SchemaOrBool => match value.by_name("schema") {
            Some(Value::Struct(schema)) => structure(schema, out),
            _ => matches!(value.by_name("allows"), Some(Value::Bool(true))).write(out),
        },
    }
}

/// Appends the first member that is not empty: the unions of apiextensions.
fn first_of(value: Ref<'_>, members: &[&str], out: &mut Vec<u8>) {
    let tables = value.def().tables();
    let index = members.iter().filter_map(|m| tables.find(m)).find(|&i| !value.get_flat(i).is_empty());
    match index {
        Some(index) => write_value(&value.get_flat(index), &tables.json[index], out),
        None => out.extend_from_slice(b"null"),
    }
}

/// Appends fields, starting at an index, each with a leading comma. [`close`] turns them into an
/// object.
fn fields(value: Ref<'_>, from: usize, out: &mut Vec<u8>) {
    value.each_member(from, |flat, member| {
        key(flat, out);
        write_value(member, flat, out);
    });
}

/// Appends a comma, the name and a colon.
#[inline(always)]
pub(super) fn key(flat: &FlatField, out: &mut Vec<u8>) {
    if !flat.key.write(out) {
        long_key(flat.field.json, out);
    }
}

/// Appends a comma, a name that is too long for a [`InlineKey`](super::key::InlineKey), and a colon.
#[cold]
pub(crate) fn long_key(name: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

/// Turns the members after `start` into an object.
#[inline]
pub(super) fn close(start: usize, out: &mut Vec<u8>) {
    match out.get_mut(start) {
        Some(comma) => *comma = b'{',
        None => out.push(b'{'),
    }
    out.push(b'}');
}

#[inline(always)]
pub(super) fn write_value(value: &Value<'_>, flat: &FlatField, out: &mut Vec<u8>) {
    match *value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::String(v) => write::string(out, v),
        Value::Bool(v) => v.write(out),
        Value::I32(v) => v.write(out),
        Value::I64(v) => v.write(out),
        Value::F64(v) => v.write(out),
        Value::Bytes(v) if v.is_empty() && matches!(flat.shape, Shape::One(_)) => out.extend_from_slice(b"null"),
        Value::Bytes(v) => v.write(out),
        Value::Quantity(v) => v.write(out),
        Value::Time(v) => v.write(out),
        Value::MicroTime(v) => v.write(out),
        Value::Duration(v) => v.write(out),
        Value::IntOrString(v) => v.write(out),
        Value::RawExtension(v) => v.write(out),
        Value::FieldsV1(v) => v.write(out),
        Value::Json(v) => v.write(out),
        Value::Document(v) => v.write(out),
        Value::Struct(v) => structure(v, out),
        Value::List(v) => write_list(out, v),
        Value::Map(v) => write_map(out, v),
        Value::StructList(v) => struct_list(v, out),
        Value::StructMap(v) => struct_map(v, out),
    }
}

fn struct_list(list: crate::reflect::StructList<'_>, out: &mut Vec<u8>) {
    if list.is_empty() {
        return out.extend_from_slice(b"null");
    }
    let start = out.len();
    for item in list.iter() {
        out.push(b',');
        structure(item, out);
    }
    out[start] = b'[';
    out.push(b']');
}

fn struct_map(map: crate::reflect::StructMap<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    map.for_each(|key, item| {
        out.push(b',');
        write::string(out, key);
        out.push(b':');
        structure(item, out);
    });
    match out.get_mut(start) {
        Some(comma) => {
            *comma = b'{';
            out.push(b'}');
        }
        None => out.extend_from_slice(b"null"),
    }
}
