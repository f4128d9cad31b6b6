//! Converts schemas from v3 form to v2 form.

use serde_json::{Map, Value};

use crate::references::SCHEMAS;

/// The v2 form of the schema of a definition.
///
/// `default` and `nullable` are dropped, a reference is next to its description instead of in an
/// `allOf`, and a type with several JSON forms becomes a string.
pub fn to_v2(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let mut out = Map::new();
    for (key, value) in members {
        match key.as_str() {
            "default" | "nullable" | "deprecated" => {}
            "$ref" => insert_reference(&mut out, value),
            "allOf" => match value.as_array().map(Vec::as_slice) {
                Some([one]) => out.extend(match to_v2(one) {
                    Value::Object(inner) => inner,
                    _ => Map::new(),
                }),
                _ => drop(out.insert(key.clone(), value.clone())),
            },
            "oneOf" => drop(out.insert("type".into(), "string".into())),
            "items" | "additionalProperties" => drop(out.insert(key.clone(), to_v2(value))),
            "properties" => drop(out.insert(key.clone(), properties(value))),
            _ => drop(out.insert(key.clone(), value.clone())),
        }
    }
    Value::Object(out)
}

fn insert_reference(out: &mut Map<String, Value>, target: &Value) {
    let name = target.as_str().map(|target| target.strip_prefix(SCHEMAS).unwrap_or(target));
    out.insert("$ref".into(), format!("#/definitions/{}", name.unwrap_or_default()).into());
}

/// Converts a map of properties. Its keys are property names, not keywords: `default` may be one.
fn properties(value: &Value) -> Value {
    let Value::Object(members) = value else { return value.clone() };
    Value::Object(members.iter().map(|(name, schema)| (name.clone(), to_v2(schema))).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn converts_each_difference_between_v3_and_v2() {
        for (v3, v2) in [
            (json!({"type": "string", "default": ""}), json!({"type": "string"})),
            (
                json!({"description": "d", "allOf": [{"$ref": "#/components/schemas/a.B"}], "default": {}}),
                json!({"description": "d", "$ref": "#/definitions/a.B"}),
            ),
            (
                json!({"oneOf": [{"type": "integer"}, {"type": "string"}], "format": "int-or-string"}),
                json!({"type": "string", "format": "int-or-string"}),
            ),
            (
                json!({"properties": {"default": {"$ref": "#/components/schemas/a.B"}}}),
                json!({"properties": {"default": {"$ref": "#/definitions/a.B"}}}),
            ),
            (
                json!({"type": "array", "items": {"$ref": "#/components/schemas/a.B"}}),
                json!({"type": "array", "items": {"$ref": "#/definitions/a.B"}}),
            ),
        ] {
            assert_eq!(to_v2(&v3), v2);
        }
    }
}
