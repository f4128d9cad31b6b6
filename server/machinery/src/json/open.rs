//! Encodes open structs (custom resources): the members of all nested objects are in name order, as
//! Go writes maps.

use super::dom::{self, encode_value};
use super::encode::{close, key, write_value};
use super::write;
use crate::reflect::{FlatField, Ref, Value};

/// A member of an object.
enum Member<'a> {
    Text(&'a str),
    Field(&'static FlatField, Value<'a>),
    Tree(&'a dom::Value),
}

/// Appends a struct as JSON.
pub(super) fn encode(value: Ref<'_>, out: &mut Vec<u8>) {
    if value.undeclared().is_some() {
        return write_members(members(value), out);
    }
    let start = out.len();
    value.each_member_by_name(|flat, member| {
        key(flat, out);
        write_field(flat, member, out);
    });
    close(start, out);
}

/// Appends an object as JSON with this version and kind, which replace those of the object.
pub(super) fn encode_object(api_version: &str, kind: &str, value: Ref<'_>, out: &mut Vec<u8>) {
    let mut members = members(value);
    members.retain(|(name, _)| !matches!(*name, "apiVersion" | "kind"));
    let type_meta = [("apiVersion", api_version), ("kind", kind)].into_iter().filter(|(_, text)| !text.is_empty());
    members.extend(type_meta.map(|(name, text)| (name, Member::Text(text))));
    write_members(members, out);
}

fn members(value: Ref<'_>) -> Vec<(&str, Member<'_>)> {
    let mut members = Vec::with_capacity(16);
    value.each_member(0, |flat, member| members.push((flat.field.json, Member::Field(flat, *member))));
    let undeclared = value.undeclared().into_iter().flat_map(|document| &document.0);
    members.extend(undeclared.map(|(name, tree)| (name.as_str(), Member::Tree(tree))));
    members
}

fn write_members(mut members: Vec<(&str, Member<'_>)>, out: &mut Vec<u8>) {
    members.sort_unstable_by_key(|(name, _)| *name);
    out.push(b'{');
    for (index, (name, member)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write::string(out, name);
        out.push(b':');
        match member {
            Member::Text(text) => write::string(out, text),
            Member::Tree(tree) => encode_value(tree, out),
            Member::Field(flat, value) => write_field(flat, &value, out),
        }
    }
    out.push(b'}');
}

fn write_field(flat: &FlatField, value: &Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Struct(inner) => encode(*inner, out),
        Value::StructList(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                encode(item, out);
            }
            out.push(b']');
        }
        value => write_value(value, flat, out),
    }
}
