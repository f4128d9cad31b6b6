//! Migration from client-side to server-side apply. Fields in kubectl's last-applied annotation do not
//! conflict for kubectl, and the annotation is updated for clients that still use it
//! (`lastAppliedManager`, `lastAppliedUpdater`).

use machinery::json;
use serde_json::{Map, Value};

use super::FieldManagerContext;
use super::conflict::Conflict;
use crate::field_set::FieldSet;
use crate::typed::{self, Duplicates};

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// `TotalAnnotationSizeLimitB`
const MAX_ANNOTATION_BYTES: usize = 256 * 1024;

/// Returns the conflicts of fields that the annotation does not allow; all of them if it cannot be decoded.
pub(super) fn without_allowed(
    context: &FieldManagerContext<'_, '_>,
    live: &Value,
    conflicts: Vec<Conflict>,
) -> Vec<Conflict> {
    match allowed(context, live) {
        Some(allowed) => conflicts.into_iter().filter(|conflict| !allowed.has(&conflict.path)).collect(),
        None => conflicts,
    }
}

/// Returns the fields that client-side apply set and that have not changed since.
fn allowed(context: &FieldManagerContext<'_, '_>, live: &Value) -> Option<FieldSet> {
    let annotation = annotations(live)?.get(ANNOTATION)?.as_str().filter(|text| !text.is_empty())?;
    let last: Value = serde_json::from_str(annotation).ok()?;
    if last.get("apiVersion").and_then(Value::as_str) != Some(context.api_version) {
        return None;
    }
    typed::validate(context.schema, live, Duplicates::Refused).ok()?;
    typed::validate(context.schema, &last, Duplicates::Refused).ok()?;
    let changes = typed::compare(context.schema, &last, live);
    let set = typed::to_field_set(context.schema, &last);
    Some(set.difference(&changes.modified).difference(&changes.added).difference(&changes.removed))
}

/// Updates the annotation to the applied configuration, if the object has one; returns whether it changed.
pub(super) fn refresh(object: &mut Value, config: &Value) -> bool {
    let Some(annotations) = object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) else {
        return false;
    };
    let current =
        annotations.get(ANNOTATION).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    let Some(current) = current else { return false };
    let updated = text_of(config);
    let is_changed = updated != current;
    annotations.insert(ANNOTATION.into(), updated.into());
    let size: usize = annotations.iter().map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
    if size > MAX_ANNOTATION_BYTES {
        annotations.shift_remove(ANNOTATION);
        return true;
    }
    is_changed
}

fn text_of(config: &Value) -> String {
    let mut config = config.clone();
    if let Some(annotations) = config.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.shift_remove(ANNOTATION);
    }
    let mut text = Vec::new();
    json::encode_value(&config, &mut text);
    text.push(b'\n');
    String::from_utf8_lossy(&text).into_owned()
}

fn annotations(object: &Value) -> Option<&Map<String, Value>> {
    object.pointer("/metadata/annotations")?.as_object()
}
