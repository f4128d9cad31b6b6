//! Merging lists: of scalars as sets, of objects by their merge key.

use serde_json::Value;

use super::error::Error;
use super::lookup::Field;
use super::{PATCH, map, order};
use crate::go_print;

/// Merges two lists (`mergeSlice`); with `deletes` the patch names scalars to drop.
pub(super) fn merge(current: Vec<Value>, patch: Vec<Value>, field: &Field, deletes: bool) -> Result<Vec<Value>, Error> {
    if current.is_empty() && patch.is_empty() {
        return Ok(current);
    }
    if !of_objects(&[&current, &patch])? {
        if deletes {
            return Ok(current.into_iter().filter(|item| !patch.contains(item)).collect());
        }
        let merged = deduplicate(current.iter().chain(&patch).cloned().collect());
        return order::arrange(merged, &patch, &current, field.merge_key, false);
    }
    if field.merge_key.is_empty() {
        let of = field.of.kind();
        return Err(Error::Other(format!("cannot merge lists without merge key for {of}")));
    }
    let (current, patch) = apply_directives(current, patch, field.merge_key)?;
    let merged = merge_objects(current.clone(), &patch, field)?;
    order::arrange(merged, &patch, &current, field.merge_key, true)
}

/// Whether the items are objects; all of them must be of one type (`sliceElementType`).
pub(super) fn of_objects(lists: &[&[Value]]) -> Result<bool, Error> {
    let mut items = lists.iter().flat_map(|list| list.iter());
    let first = items.next().ok_or_else(|| Error::Other("no elements in any of the given slices".into()))?;
    if first.is_array() {
        return Err(Error::ListOfLists);
    }
    if items.any(|item| go_print::type_name(item) != go_print::type_name(first)) {
        let lists: Vec<String> = lists.iter().map(|list| go_print::plain_list(list)).collect();
        return Err(Error::Other(format!("list element types are not identical: [{}]", lists.join(" "))));
    }
    Ok(first.is_object())
}

/// Drops later duplicates by moving the last item to their place; the order is put right afterwards.
fn deduplicate(mut items: Vec<Value>) -> Vec<Value> {
    let mut i = 0;
    while i < items.len() {
        let mut j = i + 1;
        while j < items.len() {
            if items[i] == items[j] {
                items.swap_remove(j);
            } else {
                j += 1;
            }
        }
        i += 1;
    }
    items
}

/// Obeys items that hold `$patch`; what is left of both lists (`mergeSliceWithSpecialElements`).
fn apply_directives(mut current: Vec<Value>, patch: Vec<Value>, key: &str) -> Result<(Vec<Value>, Vec<Value>), Error> {
    let mut plain = Vec::with_capacity(patch.len());
    let mut replaces = false;
    for item in patch {
        let Some((object, directive)) = item.as_object().and_then(|object| Some((object, object.get(PATCH)?))) else {
            plain.push(item);
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let wanted = object.get(key).ok_or_else(|| Error::no_merge_key(object, key))?;
                current.retain(|item| item.get(key) != Some(wanted));
            }
            Some("replace") => replaces = true,
            Some("merge") => return Err(Error::Other("merging lists cannot yet be specified in the patch".into())),
            _ => return Err(Error::bad_directive(directive, object)),
        }
    }
    Ok(if replaces { (plain, Vec::new()) } else { (current, plain) })
}

fn merge_objects(mut merged: Vec<Value>, patch: &[Value], field: &Field) -> Result<Vec<Value>, Error> {
    for item in patch {
        let Value::Object(object) = item else { continue };
        let wanted = object.get(field.merge_key).ok_or_else(|| Error::no_merge_key(object, field.merge_key))?;
        match position(&merged, field.merge_key, wanted)? {
            Some(at) => {
                let Value::Object(current) = merged[at].take() else { continue };
                merged[at] = Value::Object(map::merge(current, object.clone(), field.of)?);
            }
            None => merged.push(item.clone()),
        }
    }
    Ok(merged)
}

/// Where the object with this value of the key stands.
pub(super) fn position(items: &[Value], key: &str, wanted: &Value) -> Result<Option<usize>, Error> {
    for (index, item) in items.iter().enumerate() {
        let object = item.as_object().ok_or_else(|| Error::not_a_map(index))?;
        if object.get(key) == Some(wanted) {
            return Ok(Some(index));
        }
    }
    Ok(None)
}
