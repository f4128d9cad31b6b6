//! JSON merge patch (RFC 7386), compatible with upstream's library, evanphx/json-patch: nulls in added
//! objects are dropped too.

use machinery::budget::DecodeError;
use machinery::json::{self, Issues};
use machinery::status::Status;
use serde_json::{Map, Value};

use crate::document;

/// Applies a merge patch; `issues` gets duplicate fields of the patch.
///
/// The members of objects that the patch changes are sorted, as upstream writes them, because messages
/// may contain the document.
pub fn merge_patch(document: &Value, patch: &[u8], issues: &mut Issues) -> Result<Value, Status> {
    let malformed = |why| Status::bad_request(format!("error decoding patch: {why}"));
    let patch = document::read(patch, issues, "map[string]interface {}", Value::is_object, malformed)?;
    match patch {
        Value::Object(patch) => Ok(merged(document, patch)),
        _ => Err(invalid()),
    }
}

/// Applies a merge patch with `fieldValidation=Ignore`, where upstream leaves decoding to its library:
/// a list replaces the document.
pub fn merge_patch_unchecked(document: &Value, patch: &[u8]) -> Result<Value, Status> {
    let patch = json::parse(patch, &mut Issues::only_limit()).map_err(|error| error.into_status(|_| invalid()))?;
    match patch {
        Value::Object(patch) => Ok(merged(document, patch)),
        mut list @ Value::Array(_) => {
            prune(&mut list);
            Ok(list)
        }
        _ => Err(invalid()),
    }
}

fn invalid() -> Status {
    Status::bad_request("Invalid JSON Patch")
}

fn merged(document: &Value, patch: Map<String, Value>) -> Value {
    let mut merged = document.clone();
    match &mut merged {
        Value::Object(into) => merge_objects(into, patch),
        other => {
            let mut replacement = Value::Object(patch);
            prune(&mut replacement);
            *other = replacement;
        }
    }
    merged
}

fn merge_objects(into: &mut Map<String, Value>, patch: Map<String, Value>) {
    for (key, mut value) in patch {
        match (into.get_mut(&key), value) {
            (_, Value::Null) => {
                // The members are sorted below.
                into.swap_remove(&key);
            }
            (Some(Value::Object(current)), Value::Object(patch)) => merge_objects(current, patch),
            (Some(current @ Value::Object(_)), other) => *current = other,
            (_, other) => {
                value = other;
                prune(&mut value);
                into.insert(key, value);
            }
        }
    }
    into.sort_keys();
}

/// Drops null members at every depth; keeps null items of lists.
fn prune(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(prune);
            map.sort_keys();
        }
        Value::Array(items) => items.iter_mut().for_each(prune),
        _ => {}
    }
}
