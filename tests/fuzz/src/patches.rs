//! Patches and managed fields.

use generated::apps::v1::Deployment;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use machinery::json::Issues;
use machinery::reflect::Struct;
use patch::FieldSet;
use serde_json::{Value, json};

use crate::written;

/// Applies three kinds of patches to a document; a zero byte separates patch and document.
pub fn patches(bytes: &[u8]) {
    let Some(at) = bytes.iter().position(|byte| *byte == 0) else { return };
    let Ok(document) = serde_json::from_slice::<Value>(&bytes[..at]) else { return };
    let text = &bytes[at + 1..];
    let _ = patch::json_patch(&document, text, &mut Issues::collect());
    let _ = patch::merge_patch(&document, text, &mut Issues::collect());
    let _ = patch::strategic_merge(Deployment::def(), &document, text, &mut Issues::collect());
}

/// Parses managed fields.
pub fn field_sets(bytes: &[u8]) {
    if let Ok(set) = FieldSet::from_json(bytes) {
        let text = written(|out| set.append_json(out));
        assert_eq!(FieldSet::from_json(&text).as_ref(), Ok(&set));
    }
}

/// Maximum JSON size of a patched document, in bytes.
const MAX_PATCHED: usize = 64 << 20;

/// Applies many patches to one document in sequence; the results can be encoded and dropped.
pub fn patch_sequences(bytes: &[u8]) {
    let mut document = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "d", "labels": {"a": "b"}, "finalizers": ["x/a", "x/b"]},
        "spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i", "env": [{"name": "e", "value": "v"}]}]}}},
    });
    let mut input = Unstructured::new(bytes);
    while let Ok(patch) = sequence_step(&mut input) {
        let text = patch.to_string();
        let patched = match patch {
            Value::Array(_) => patch::json_patch(&document, text.as_bytes(), &mut Issues::collect()).ok(),
            _ if patch.get("$strategic").is_some() => {
                patch::strategic_merge(Deployment::def(), &document, text.as_bytes(), &mut Issues::collect()).ok()
            }
            _ => patch::merge_patch(&document, text.as_bytes(), &mut Issues::collect()).ok(),
        };
        document = patched.unwrap_or(document);
        let size = serde_json::to_vec(&document).expect("a patched document can be written").len();
        if size > MAX_PATCHED / 8 {
            assert!(size <= MAX_PATCHED, "patches made a document of {size} bytes");
            return;
        }
    }
}

/// Locations in the document that operations refer to.
const PLACES: [&str; 12] = [
    "",
    "/metadata",
    "/metadata/labels",
    "/metadata/finalizers",
    "/metadata/finalizers/0",
    "/metadata/finalizers/-",
    "/spec/template",
    "/spec/template/spec/containers",
    "/spec/template/spec/containers/0",
    "/spec/template/spec/containers/-",
    "/spec/template/spec/containers/0/env",
    "/spec/copy",
];

fn sequence_step(input: &mut Unstructured<'_>) -> Result<Value> {
    if input.is_empty() {
        return Err(libfuzzer_sys::arbitrary::Error::NotEnoughData);
    }
    if input.ratio(2, 3)? {
        let count = input.int_in_range(1..=20)?;
        return (0..count).map(|_| operation(input)).collect::<Result<Vec<_>>>().map(Value::from);
    }
    let names: Vec<String> = (0..input.int_in_range(0..=5)?).map(|n| format!("x/{n}")).collect();
    Ok(match input.int_in_range(0..=2)? {
        0 => json!({"metadata": {"finalizers": names}}),
        1 => json!({"$strategic": null, "metadata": {"$setElementOrder/finalizers": names, "finalizers": names}}),
        _ => json!({"$strategic": null, "metadata": {"$deleteFromPrimitiveList/finalizers": names}}),
    })
}

fn operation(input: &mut Unstructured<'_>) -> Result<Value> {
    let op = *input.choose(&["add", "copy", "move", "replace", "remove", "test"])?;
    let (from, path) = (*input.choose(&PLACES)?, *input.choose(&PLACES)?);
    let suffix = if input.ratio(1, 2)? { format!("/k{}", input.int_in_range(0..=9)?) } else { String::new() };
    let value = if input.ratio(1, 2)? { json!({"name": "n", "k": [1, 2]}) } else { json!("x".repeat(50)) };
    Ok(json!({"op": op, "from": from, "path": format!("{path}{suffix}"), "value": value}))
}
