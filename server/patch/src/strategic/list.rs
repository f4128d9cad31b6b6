//! Merges lists: scalars as sets, objects by their merge key.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::directives::PATCH;
use super::lookup::PatchMeta;
use super::{map, order};
use crate::{Error, go_print};

/// Merges two lists (`mergeSlice`); with `deletes`, the patch lists scalars to remove.
pub(super) fn merge(
    current: Vec<Value>,
    patch: Vec<Value>,
    field: &PatchMeta,
    deletes: bool,
) -> Result<Vec<Value>, Error> {
    if current.is_empty() && patch.is_empty() {
        return Ok(current);
    }
    if !of_objects(&[&current, &patch])? {
        if deletes {
            let deleted: HashSet<&Value> = patch.iter().collect();
            return Ok(current.into_iter().filter(|item| !deleted.contains(item)).collect());
        }
        let merged = deduplicate(current.iter().chain(&patch).cloned().collect());
        return order::arrange(merged, &patch, &current, field.merge_key, false);
    }
    if field.merge_key.is_empty() {
        return Err(Error::UndeclaredMergeKey(field.of.kind()));
    }
    let (current, patch) = apply_directives(current, patch, field.merge_key)?;
    let merged = merge_objects(current.clone(), &patch, field)?;
    order::arrange(merged, &patch, &current, field.merge_key, true)
}

/// Returns whether the items are objects; all of them must have the same type (`sliceElementType`).
pub(super) fn of_objects(lists: &[&[Value]]) -> Result<bool, Error> {
    let mut items = lists.iter().flat_map(|list| list.iter());
    let first = items.next().ok_or(Error::NoItems)?;
    if first.is_array() {
        return Err(Error::ListOfLists);
    }
    if items.any(|item| go_print::type_name(item) != go_print::type_name(first)) {
        return Err(Error::MixedItems(lists.iter().map(|list| go_print::plain_list(list)).collect()));
    }
    Ok(first.is_object())
}

/// Removes later duplicates.
fn deduplicate(items: Vec<Value>) -> Vec<Value> {
    let mut seen = HashSet::with_capacity(items.len());
    let is_first: Vec<bool> = items.iter().map(|item| seen.insert(item)).collect();
    items.into_iter().zip(is_first).filter_map(|(item, is_first)| is_first.then_some(item)).collect()
}

/// Applies items with `$patch`; returns the remaining items of both lists (`mergeSliceWithSpecialElements`).
fn apply_directives(mut current: Vec<Value>, patch: Vec<Value>, key: &str) -> Result<(Vec<Value>, Vec<Value>), Error> {
    let mut plain = Vec::with_capacity(patch.len());
    let (mut replaces, mut deleted) = (false, HashSet::new());
    for item in patch {
        let Some((object, directive)) = item.as_object().and_then(|object| Some((object, object.get(PATCH)?))) else {
            plain.push(item);
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let wanted = object.get(key).ok_or_else(|| Error::no_merge_key(object, key))?;
                deleted.insert(wanted.clone());
            }
            Some("replace") => replaces = true,
            Some("merge") => return Err(Error::MergeDirective),
            _ => return Err(Error::unknown_directive(directive, object)),
        }
    }
    if !deleted.is_empty() {
        current.retain(|item| item.get(key).is_none_or(|value| !deleted.contains(value)));
    }
    Ok(if replaces { (plain, Vec::new()) } else { (current, plain) })
}

fn merge_objects(mut merged: Vec<Value>, patch: &[Value], field: &PatchMeta) -> Result<Vec<Value>, Error> {
    let key = field.merge_key;
    let mut places: HashMap<Value, usize> = HashMap::with_capacity(merged.len());
    for (index, item) in merged.iter().enumerate() {
        if let Some(value) = item.get(key) {
            places.entry(value.clone()).or_insert(index);
        }
    }
    for item in patch {
        let Value::Object(object) = item else { continue };
        let wanted = object.get(key).ok_or_else(|| Error::no_merge_key(object, key))?;
        match places.get(wanted) {
            Some(&at) => {
                let Value::Object(current) = merged[at].take() else { continue };
                merged[at] = Value::Object(map::merge(current, object.clone(), field.of)?);
            }
            None => {
                places.insert(wanted.clone(), merged.len());
                merged.push(item.clone());
            }
        }
    }
    Ok(merged)
}
