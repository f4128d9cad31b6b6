//! Checks of metadata from conversion webhooks. They may change only labels and annotations
//! (`validateConvertedObject`, `restoreObjectMeta`).

use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::format::{is_label_value, is_qualified_name};
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// Maximum total length of annotations in bytes.
const MAX_ANNOTATIONS: usize = 256 << 10;

/// Checks that a converted object has the identity of the original.
///
/// # Errors
/// Returns the field that differs.
pub fn check_identity(original: &Value, converted: &Value) -> Result<()> {
    let text = |object: &Value, path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    for (name, path) in
        [("kind", "/kind"), ("name", "/metadata/name"), ("namespace", "/metadata/namespace"), ("UID", "/metadata/uid")]
    {
        let (before, after) = (text(original, path), text(converted, path));
        if before != after {
            return Err(Error::Identity { name, before, after });
        }
    }
    Ok(())
}

/// Restores the metadata of the original in a converted object, except for labels and annotations.
///
/// # Errors
/// Returns an error if labels or annotations are invalid.
pub fn restore(original: &Value, converted: &mut Value) -> Result<()> {
    let sent = converted.get_mut("metadata").map(Value::take).ok_or(Error::NoMetadata)?;
    let Value::Object(mut sent) = sent else {
        return Err(Error::MetadataType { path: "metadata".into(), found: go_type(&sent) });
    };
    let mut metadata = original["metadata"].as_object().cloned().unwrap_or_default();
    for name in ["labels", "annotations"] {
        match sent.shift_remove(name) {
            None | Some(Value::Null) => drop(metadata.shift_remove(name)),
            Some(Value::Object(members)) => {
                check_texts(name, &members)?;
                let is_changed = metadata.get(name).and_then(Value::as_object) != Some(&members);
                let errors = if is_changed { faults(name, &members) } else { Vec::new() };
                if !errors.is_empty() {
                    return Err(Error::Metadata(errors));
                }
                metadata.insert(name.into(), Value::Object(members));
            }
            Some(other) => {
                return Err(Error::MetadataType { path: format!("metadata.{name}"), found: go_type(&other) });
            }
        }
    }
    converted["metadata"] = Value::Object(metadata);
    Ok(())
}

fn check_texts(name: &str, members: &Map<String, Value>) -> Result<()> {
    match members.iter().find(|(_, value)| !value.is_string()) {
        Some((key, value)) => {
            Err(Error::MetadataText { path: format!("metadata.{name}[{key}]"), found: go_type(value) })
        }
        None => Ok(()),
    }
}

fn faults(name: &str, members: &Map<String, Value>) -> Vec<FieldError> {
    let metadata = Path::new("metadata");
    let mut errors = Vec::new();
    if name == "labels" {
        let path = metadata.child("labels");
        for (key, value) in members {
            errors.extend(is_qualified_name(key).into_iter().map(|why| FieldError::invalid(&path, key.as_str(), why)));
            let value = value.as_str().unwrap_or_default();
            errors.extend(is_label_value(value).into_iter().map(|why| FieldError::invalid(&path, value, why)));
        }
        return errors;
    }
    // Upstream spells this path without the final `s`.
    let path = metadata.child("annotation");
    let mut size = 0;
    for (key, value) in members {
        let faults = is_qualified_name(&key.to_lowercase());
        errors.extend(faults.into_iter().map(|why| FieldError::invalid(&path, key.as_str(), why)));
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > MAX_ANNOTATIONS {
        errors.push(FieldError::too_long(&path, MAX_ANNOTATIONS));
    }
    errors
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn widget(metadata: Value) -> Value {
        json!({"kind": "Widget", "metadata": metadata})
    }

    #[test]
    fn keeps_only_labels_and_annotations_of_webhook() {
        let original = widget(json!({"name": "a", "uid": "u", "finalizers": ["x/y"], "labels": {"old": "l"}}));
        for (sent, expect) in [
            (
                json!({"name": "a", "labels": {"new": "l"}, "annotations": {"n": "v"}, "finalizers": []}),
                Ok(
                    json!({"name": "a", "uid": "u", "finalizers": ["x/y"], "labels": {"new": "l"}, "annotations": {"n": "v"}}),
                ),
            ),
            (json!({}), Ok(json!({"name": "a", "uid": "u", "finalizers": ["x/y"]}))),
            (json!({"labels": "l"}), Err("invalid metadata.labels of type string in converted object")),
            (json!({"labels": {"a": 1}}), Err("metadata.labels[a] must be a string, but is int64 in converted object")),
            (json!([]), Err("invalid metadata of type []interface {} in converted object")),
        ] {
            let mut converted = widget(sent);
            let got = restore(&original, &mut converted)
                .map(|()| converted["metadata"].clone())
                .map_err(|error| error.to_string());
            assert_eq!(got, expect.map_err(str::to_owned));
        }
        let mut converted = widget(json!({"labels": {"-": "l"}}));
        let why = restore(&original, &mut converted).expect_err("no label").to_string();
        assert!(why.starts_with(r#"metadata.labels: Invalid value: "-": name part must consist of"#), "{why}");
    }

    #[test]
    fn rejects_changed_identity() {
        let original = widget(json!({"name": "a", "namespace": "n", "uid": "u"}));
        for (converted, expect) in [
            (original.clone(), Ok(())),
            (json!({"kind": "Gadget", "metadata": {}}), Err("must have the same kind: Widget != Gadget")),
            (widget(json!({"name": "b"})), Err("must have the same name: a != b")),
            (widget(json!({"name": "a", "namespace": "n"})), Err("must have the same UID: u != ")),
        ] {
            let got = check_identity(&original, &converted).map_err(|error| error.to_string());
            assert_eq!(got, expect.map_err(str::to_owned));
        }
    }
}
