//! Merges objects, and applies the directives in them.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::directives::{DELETE_FROM_PRIMITIVE_LIST, PATCH, RETAIN_KEYS, SET_ELEMENT_ORDER};
use super::lookup::GoType;
use super::{list, order};
use crate::Error;

type Object = Map<String, Value>;

/// Merges a patch into an object of the given type (`mergeMap`).
pub(super) fn merge(mut original: Object, mut patch: Object, of: GoType) -> Result<Object, Error> {
    if let Some(directive) = patch.get(PATCH) {
        return match directive.as_str() {
            Some("replace") => {
                patch.shift_remove(PATCH);
                Ok(patch)
            }
            Some("delete") => Ok(Object::new()),
            _ => Err(Error::unknown_directive(directive, &patch)),
        };
    }
    retain_keys(&mut original, &mut patch)?;
    order_lists(&mut original, &mut patch, of)?;
    for (key, value) in patch {
        merge_member(&mut original, key, value, of)?;
    }
    Ok(original)
}

fn merge_member(original: &mut Object, key: String, value: Value, of: GoType) -> Result<(), Error> {
    let (key, deletes) = match key.strip_prefix(DELETE_FROM_PRIMITIVE_LIST) {
        Some(rest) => (rest.strip_prefix('/').ok_or(Error::Directive("primitive list"))?.to_string(), true),
        None => (key, false),
    };
    if value.is_null() {
        // The order of members is irrelevant, because the document is decoded into its type.
        original.swap_remove(&key);
        return Ok(());
    }
    let Some(current) = original.get_mut(&key) else {
        if !deletes {
            take_patch(original, key, value);
        }
        return Ok(());
    };
    match (current.take(), value) {
        (Value::Object(current), Value::Object(patch)) => {
            let field = of.field(&key)?;
            let merged = if field.replaces_objects() { patch } else { merge(current, patch, field.of)? };
            original.insert(key, Value::Object(merged));
        }
        (Value::Array(current), Value::Array(patch)) => {
            let field = of.list_field(&key)?;
            let merged =
                if field.merges_lists() || deletes { list::merge(current, patch, &field, deletes)? } else { patch };
            original.insert(key, Value::Array(merged));
        }
        (current, _) if deletes => {
            original.insert(key, current);
        }
        (_, value) => take_patch(original, key, value),
    }
    Ok(())
}

/// Sets the patch's value without its nulls and directives.
fn take_patch(original: &mut Object, key: String, mut value: Value) {
    discard_nulls(&mut value);
    match without_directives(value) {
        Some(value) => {
            original.insert(key, value);
        }
        None => {
            original.swap_remove(&key);
        }
    }
}

pub(super) fn discard_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(discard_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(discard_nulls),
        _ => {}
    }
}

/// Returns the value without objects that have a directive; `None` when it is one itself (`removeDirectives`).
pub(super) fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(map) if map.contains_key(PATCH) => None,
        Value::Object(map) => {
            Some(map.into_iter().filter_map(|(key, value)| Some((key, without_directives(value)?))).collect())
        }
        Value::Array(items) => Some(items.into_iter().filter_map(without_directives).collect()),
        other => Some(other),
    }
}

/// Applies `$retainKeys`: removes members of the original that it does not list. It must list all that
/// the patch sets.
fn retain_keys(original: &mut Object, patch: &mut Object) -> Result<(), Error> {
    const BAD: Error = Error::Directive("retainKeys");
    let Some(retained) = patch.shift_remove(RETAIN_KEYS) else { return Ok(()) };
    let retained = retained.as_array().ok_or(BAD)?;
    let retained: HashSet<&str> = retained.iter().filter_map(Value::as_str).collect();
    let retains = |key: &str| retained.contains(key);
    let is_directive = |key: &str| key.starts_with(DELETE_FROM_PRIMITIVE_LIST) || key.starts_with(SET_ELEMENT_ORDER);
    if patch.iter().any(|(key, value)| !value.is_null() && !is_directive(key) && !retains(key)) {
        return Err(BAD);
    }
    original.retain(|key, _| retains(key));
    Ok(())
}

/// Merges and orders the lists with `$setElementOrder`, and removes them from the patch
/// (`mergePatchIntoOriginal`).
fn order_lists(original: &mut Object, patch: &mut Object, of: GoType) -> Result<(), Error> {
    let directives: Vec<String> = patch.keys().filter(|key| key.starts_with(SET_ELEMENT_ORDER)).cloned().collect();
    for directive in directives {
        let Some(wanted) = patch.shift_remove(&directive) else { continue };
        let Value::Array(wanted) = wanted else { return Err(Error::value_type("[]interface {}", &wanted)) };
        let key =
            directive[SET_ELEMENT_ORDER.len()..].strip_prefix('/').ok_or(Error::Directive("setElementOrder list"))?;
        let current = original.get(key).map(as_list).transpose()?.map(<[Value]>::to_vec);
        let patched = patch.get(key).map(as_list).transpose()?.map(<[Value]>::to_vec);
        let field = of.list_field(key)?;
        order::check(patched.as_deref().unwrap_or_default(), &wanted, field.merge_key)?;
        let merged = match (current.clone(), patched.clone()) {
            (None, None) => continue,
            (Some(current), None) => current,
            (None, Some(patched)) => patched.into_iter().filter_map(without_directives).collect(),
            (Some(current), Some(patched)) if field.merges_lists() => list::merge(current, patched, &field, false)?,
            (Some(_), Some(patched)) => patched,
        };
        let current = current.unwrap_or_default();
        let of_objects = list::of_objects(&[&current, patched.as_deref().unwrap_or_default()])?;
        let ordered = order::arrange(merged, &wanted, &current, field.merge_key, of_objects)?;
        original.insert(key.to_string(), Value::Array(ordered));
        patch.shift_remove(key);
    }
    Ok(())
}

fn as_list(value: &Value) -> Result<&[Value], Error> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| Error::value_type("[]interface {}", value))
}
