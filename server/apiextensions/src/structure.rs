//! The `NonStructuralSchema` condition of definitions (`nonstructuralschema.ConditionController`).
//! Only definitions that older servers stored can have non-structural schemas.

use apimachinery::apiextensions::v1::{CustomResourceDefinition, CustomResourceDefinitionCondition};
use machinery::field_error::{FieldError, aggregate};
use machinery::field_path::Path;
use machinery::scalar::Time;

use crate::conditions::{self, NON_STRUCTURAL_SCHEMA, condition};
use crate::definition::{unstructured_because, unsupported};

/// Updates the condition.
pub fn update_condition(definition: &mut CustomResourceDefinition, now: Time) {
    match violation(definition) {
        Some(found) => {
            let is_recorded = definition.status.conditions.iter().any(|known| {
                (&known.r#type, &known.status, &known.reason, &known.message)
                    == (&found.r#type, &found.status, &found.reason, &found.message)
            });
            if !is_recorded {
                conditions::set(definition, found, now);
            }
        }
        None => definition.status.conditions.retain(|known| known.r#type != NON_STRUCTURAL_SCHEMA),
    }
}

fn violation(definition: &CustomResourceDefinition) -> Option<CustomResourceDefinitionCondition> {
    let spec = Path::new("spec");
    let mut errors = Vec::new();
    if definition.spec.preserve_unknown_fields {
        errors.push(FieldError::invalid(&spec.child("preserveUnknownFields"), true, "must be false"));
    }
    let versions = spec.child("versions");
    for (index, version) in definition.spec.versions.iter().enumerate() {
        let Some(props) = version.schema.as_ref().and_then(|schema| schema.open_api_v3_schema.as_deref()) else {
            continue;
        };
        if let Some(why) = unsupported(props) {
            let message = format!("failed to check validation schema for version {}: {why}", version.name);
            let mut unknown = condition(NON_STRUCTURAL_SCHEMA, false, "StructuralError", message);
            unknown.status = "Unknown".to_owned();
            return Some(unknown);
        }
        let (at, schema) = (versions.index(index), "schema");
        errors.extend(unstructured_because(&at.child(schema).child("openAPIV3Schema"), props));
    }
    (!errors.is_empty()).then(|| condition(NON_STRUCTURAL_SCHEMA, true, "Violations", aggregate(&errors)))
}

#[cfg(test)]
mod tests {
    use machinery::json::{self, Issues};
    use machinery::reflect::Mut;
    use serde_json::json;

    use super::*;

    fn condition_texts(spec: serde_json::Value) -> Vec<String> {
        let mut definition = CustomResourceDefinition::default();
        json::from_value(&json!({ "spec": spec }), Mut::of(&mut definition), &mut Issues::ignore()).expect("a spec");
        update_condition(&mut definition, Time::from_unix(0));
        let conditions = definition.status.conditions.iter();
        conditions.map(|c| format!("{}={} {}: {}", c.r#type, c.status, c.reason, c.message)).collect()
    }

    #[test]
    fn reports_non_structural_schemas() {
        let version = |schema: serde_json::Value| json!([{"name": "v1", "schema": {"openAPIV3Schema": schema}}]);
        for (spec, expect) in [
            (json!({"versions": version(json!({"type": "object"}))}), None),
            (
                json!({"preserveUnknownFields": true, "versions": version(json!({"type": "object"}))}),
                Some(
                    "NonStructuralSchema=True Violations: spec.preserveUnknownFields: Invalid value: true: must be false",
                ),
            ),
            (
                json!({"versions": version(json!({}))}),
                Some(
                    "NonStructuralSchema=True Violations: spec.versions[0].schema.openAPIV3Schema.type: Required value: must not be empty at the root",
                ),
            ),
            (
                json!({"versions": version(json!({"type": "object", "properties": {"a": {"type": "object", "patternProperties": {"x": {}}}}}))}),
                Some(
                    "NonStructuralSchema=Unknown StructuralError: failed to check validation schema for version v1: OpenAPIV3Schema 'patternProperties' is not supported",
                ),
            ),
        ] {
            assert_eq!(condition_texts(spec), expect.map(str::to_owned).into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn removes_condition_without_violation() {
        let mut definition = CustomResourceDefinition::default();
        definition.spec.preserve_unknown_fields = true;
        update_condition(&mut definition, Time::from_unix(0));
        definition.spec.preserve_unknown_fields = false;
        update_condition(&mut definition, Time::from_unix(0));
        assert!(definition.status.conditions.is_empty());
    }
}
