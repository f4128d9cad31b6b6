//! The order of a merged list: that of the patch; items that the patch does not order keep theirs.

use serde_json::Value;

use super::directives::PATCH;
use super::places::Places;
use crate::{Error, go_print};

/// Checks that the patch's items have the order of `$setElementOrder` (`validatePatchWithSetOrderList`).
pub(super) fn check(patch: &[Value], wanted: &[Value], key: &str) -> Result<(), Error> {
    if patch.is_empty() || wanted.is_empty() {
        return Ok(());
    }
    let items = if key.is_empty() { patch.iter().collect() } else { not_deleted(patch)? };
    let (mut at, mut wanted_at) = (0, 0);
    while at < items.len() && wanted_at < wanted.len() {
        if items[at].get(PATCH).is_some() {
            at += 1;
            continue;
        }
        if equal(items[at], &wanted[wanted_at], key)? {
            at += 1;
        }
        wanted_at += 1;
    }
    if at < items.len() && wanted_at >= wanted.len() {
        let (patch, wanted) = (go_print::plain_list(patch), go_print::plain_list(wanted));
        return Err(Error::Order { patch, wanted });
    }
    Ok(())
}

fn not_deleted(items: &[Value]) -> Result<Vec<&Value>, Error> {
    let mut kept = Vec::with_capacity(items.len());
    for item in items {
        let object = item.as_object().ok_or_else(|| Error::value_type("map[string]interface {}", item))?;
        if object.get(PATCH).and_then(Value::as_str) != Some("delete") {
            kept.push(item);
        }
    }
    Ok(kept)
}

fn equal(left: &Value, right: &Value, key: &str) -> Result<bool, Error> {
    if key.is_empty() {
        return Ok(left == right);
    }
    Ok(key_of(left, key)? == key_of(right, key)?)
}

fn key_of<'v>(item: &'v Value, key: &str) -> Result<&'v Value, Error> {
    let object = item.as_object().ok_or_else(|| Error::value_type("map[string]interface {}", item))?;
    object.get(key).ok_or_else(|| Error::no_merge_key(object, key))
}

/// Orders a merged list: items in `wanted` have its order; the others keep the order of `current`
/// (`normalizeElementOrder`).
pub(super) fn arrange(
    merged: Vec<Value>,
    wanted: &[Value],
    current: &[Value],
    key: &str,
    of_objects: bool,
) -> Result<Vec<Value>, Error> {
    let key = if of_objects { key } else { "" };
    let (mut named, mut others) = (Vec::new(), Vec::new());
    let wanted_places = Places::of(wanted, key);
    for item in merged {
        let is_named = if key.is_empty() {
            wanted_places.of_item(&item).is_some()
        } else {
            wanted_places.of_value(key_of(&item, key)?)?.is_some()
        };
        if is_named { named.push(item) } else { others.push(item) }
    }
    let named = sort(named, wanted, key)?;
    let others = sort(others, current, key)?;
    Ok(interleave(others, named, current, key))
}

/// Sorts items by their position in `order`, those to delete last; items without a position keep their place.
fn sort(items: Vec<Value>, order: &[Value], key: &str) -> Result<Vec<Value>, Error> {
    if !key.is_empty() {
        for item in items.iter().chain(order) {
            key_of(item, key)?;
        }
    }
    let is_deleted = |item: &Value| item.get(PATCH).and_then(Value::as_str) == Some("delete");
    let (deleted, mut kept): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| !key.is_empty() && is_deleted(item));
    let places = Places::of(order, key);
    let places: Vec<Option<usize>> = kept.iter().map(|item| places.of_item(item)).collect();
    let mut placed: Vec<(usize, Value)> = Vec::with_capacity(kept.len());
    let mut slots = Vec::with_capacity(kept.len());
    for (at, found) in places.iter().enumerate() {
        if let Some(found) = found {
            placed.push((*found, kept[at].take()));
            slots.push(at);
        }
    }
    placed.sort_by_key(|(place, _)| *place);
    for (slot, (_, item)) in slots.into_iter().zip(placed) {
        kept[slot] = item;
    }
    kept.extend(deleted);
    Ok(kept)
}

/// Merges two lists; the left item goes first only when `current` has both in that order (`mergeSortedSlice`).
fn interleave(left: Vec<Value>, right: Vec<Value>, current: &[Value], key: &str) -> Vec<Value> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let places = Places::of(current, key);
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(l), Some(r)) = (left.peek(), right.peek()) {
        let left_first = match (places.of_item(l), places.of_item(r)) {
            (Some(l), Some(r)) => l < r,
            _ => false,
        };
        merged.extend(if left_first { left.next() } else { right.next() });
    }
    merged.extend(left);
    merged.extend(right);
    merged
}
