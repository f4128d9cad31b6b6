//! The remainder of a strategic merge patch after the merge. Upstream removes directives from the patch
//! while it applies them, and messages contain the rest.

use serde_json::{Map, Value};

use super::directives::{DELETE_FROM_PRIMITIVE_LIST, PATCH, RETAIN_KEYS, SET_ELEMENT_ORDER};
use super::lookup::{GoType, PatchMeta};
use super::map::without_directives;

type Object = Map<String, Value>;

/// Removes directives from a patch as a merge into `original` does; both have been merged without an error.
pub(super) fn strip_directives(original: &Object, patch: &mut Object, of: GoType) {
    if let Some(directive) = patch.get(PATCH) {
        if directive.as_str() == Some("replace") {
            patch.shift_remove(PATCH);
        }
        return;
    }
    patch.shift_remove(RETAIN_KEYS);
    let orders: Vec<String> = patch.keys().filter(|key| key.starts_with(SET_ELEMENT_ORDER)).cloned().collect();
    for order in orders {
        patch.shift_remove(&order);
        patch.shift_remove(order[SET_ELEMENT_ORDER.len()..].trim_start_matches('/'));
    }
    for (key, value) in patch.iter_mut() {
        if value.is_null() || key.starts_with(DELETE_FROM_PRIMITIVE_LIST) {
            continue;
        }
        match (original.get(key), value) {
            (Some(Value::Object(original)), Value::Object(patch)) => {
                if let Ok(field) = of.field(key)
                    && !field.replaces_objects()
                {
                    strip_directives(original, patch, field.of);
                }
            }
            (Some(Value::Array(original)), Value::Array(patch)) => {
                if let Ok(field) = of.list_field(key)
                    && field.merges_lists()
                {
                    strip_item_directives(original, patch, &field);
                }
            }
            (_, value) => take(value),
        }
    }
}

fn strip_item_directives(original: &[Value], patch: &mut [Value], field: &PatchMeta) {
    let has_directive = |item: &Value, wanted: &str| item.get(PATCH).and_then(Value::as_str) == Some(wanted);
    if patch.iter().any(|item| has_directive(item, "replace")) {
        return;
    }
    for item in patch.iter_mut().filter_map(Value::as_object_mut).filter(|item| !item.contains_key(PATCH)) {
        let key = item.get(field.merge_key);
        let same = original.iter().find(|original| original.get(field.merge_key) == key);
        if let Some(Value::Object(same)) = same {
            strip_directives(same, item, field.of);
        }
    }
}

/// Removes nulls and directives from a value that is set as a whole. For a list, only from its items.
fn take(value: &mut Value) {
    super::map::discard_nulls(value);
    match value {
        Value::Array(items) => items.iter_mut().for_each(take),
        Value::Object(members) if !members.contains_key(PATCH) => {
            *members = std::mem::take(members)
                .into_iter()
                .filter_map(|(key, value)| Some((key, without_directives(value)?)))
                .collect();
        }
        _ => {}
    }
}
