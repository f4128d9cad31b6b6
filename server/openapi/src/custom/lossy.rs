//! Removes keywords that a v2 document does not support, or that make its clients reject valid
//! objects (upstream: `controller/openapi/v2`).

use serde_json::{Map, Value};

/// Removes unsupported keywords from a single schema. The structure of the schema must be
/// unchanged.
pub(super) fn drop_unsupported(schema: &mut Map<String, Value>) {
    for key in ["allOf", "anyOf", "not", "oneOf"] {
        schema.shift_remove(key);
    }
    let is_open = has_flag(schema, "x-kubernetes-preserve-unknown-fields");
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

/// Removes nullable properties from `required`.
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

/// Whether a flag is set.
pub(super) fn has_flag(schema: &Map<String, Value>, flag: &str) -> bool {
    schema.get(flag) == Some(&Value::Bool(true))
}
