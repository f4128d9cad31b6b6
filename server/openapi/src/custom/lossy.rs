//! What a v2 document cannot say, or makes its readers refuse objects that are in order (upstream: `controller/openapi/v2`).

use serde_json::{Map, Value};

use super::definition::says;

/// Drops it from one schema, whose structure has not been changed yet.
pub(super) fn drop_unsupported(schema: &mut Map<String, Value>) {
    for key in ["allOf", "anyOf", "not", "oneOf"] {
        schema.shift_remove(key);
    }
    let is_open = says(schema, "x-kubernetes-preserve-unknown-fields");
    let is_nullable = schema.shift_remove("nullable") == Some(Value::Bool(true));
    if is_nullable {
        schema.shift_remove("type");
    }
    if is_nullable || is_open {
        schema.shift_remove("items");
        schema.shift_remove("properties");
    }
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    if (kind == "array" && !schema.contains_key("items")) || (kind == "object" && is_open) {
        schema.shift_remove("type");
    }
    require_no_nullable(schema);
}

/// Who may be null is not required.
fn require_no_nullable(schema: &mut Map<String, Value>) {
    let is_nullable = |schema: Option<&Value>| schema.is_some_and(|schema| schema["nullable"] == true);
    let all = is_nullable(schema.get("additionalProperties"));
    let Some(Value::Array(mut required)) = schema.shift_remove("required") else { return };
    let properties = schema.get("properties");
    required.retain(|name| {
        let property = properties.zip(name.as_str()).and_then(|(all, name)| all.get(name));
        !all && !is_nullable(property)
    });
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
}
