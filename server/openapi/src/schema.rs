//! From the v3 form of a schema to its v2 form.

use serde_json::{Map, Value};

use crate::references::SCHEMAS;

/// The v2 form of a schema of a definition: `default` and `nullable` are not said, a reference stands beside its
/// description instead of in an `allOf`, and a type with several JSON forms is a string.
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

/// Property names are not keywords: `default` may be one.
fn properties(value: &Value) -> Value {
    let Value::Object(members) = value else { return value.clone() };
    Value::Object(members.iter().map(|(name, schema)| (name.clone(), to_v2(schema))).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_difference_between_the_forms() {
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
