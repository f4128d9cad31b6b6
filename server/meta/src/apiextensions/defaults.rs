//! Defaults of custom resource definitions.

use bytes::Bytes;
use machinery::json::{self, Issues};
use machinery::scalar::JsonValue;

use apimachinery::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionNames, CustomResourceDefinitionSpec, JSONSchemaProps,
    conversion_strategy_type,
};
use apimachinery::apiextensions::v1beta1;

/// Mirrors `SetDefaults_CustomResourceDefinition`.
pub fn default_custom_resource_definition(definition: &mut CustomResourceDefinition) {
    if definition.status.stored_versions.is_empty() {
        let stored = definition.spec.versions.iter().find(|version| version.storage);
        definition.status.stored_versions.extend(stored.map(|version| version.name.clone()));
    }
}

/// Mirrors `SetDefaults_CustomResourceDefinitionSpec`.
pub fn default_custom_resource_definition_spec(spec: &mut CustomResourceDefinitionSpec) {
    default_names(&mut spec.names);
}

fn default_names(names: &mut CustomResourceDefinitionNames) {
    if names.singular.is_empty() {
        names.singular = names.kind.to_lowercase();
    }
    if names.list_kind.is_empty() && !names.kind.is_empty() {
        names.list_kind = format!("{}List", names.kind);
    }
}

/// Mirrors `SetDefaults_CustomResourceDefinition` of v1beta1.
pub fn default_v1beta1_custom_resource_definition(definition: &mut v1beta1::CustomResourceDefinition) {
    // Upstream applies the defaults of the spec first here; otherwise a version given by `version`
    // only would not count as stored.
    default_v1beta1_custom_resource_definition_spec(&mut definition.spec);
    if definition.status.stored_versions.is_empty() {
        let stored = definition.spec.versions.iter().find(|version| version.storage);
        definition.status.stored_versions.extend(stored.map(|version| version.name.clone()));
    }
}

/// Mirrors `SetDefaults_CustomResourceDefinitionSpec` of v1beta1, where `version` can name a single
/// version.
pub fn default_v1beta1_custom_resource_definition_spec(spec: &mut v1beta1::CustomResourceDefinitionSpec) {
    default_names(&mut spec.names);
    if spec.versions.is_empty() && !spec.version.is_empty() {
        let name = spec.version.clone();
        spec.versions.push(v1beta1::CustomResourceDefinitionVersion {
            name,
            storage: true,
            served: true,
            ..Default::default()
        });
    }
    if spec.version.is_empty()
        && let Some(first) = spec.versions.first()
    {
        spec.version.clone_from(&first.name);
    }
    if let Some(conversion) = &mut spec.conversion
        && conversion.strategy == conversion_strategy_type::WEBHOOK
        && conversion.conversion_review_versions.is_empty()
    {
        conversion.conversion_review_versions.push("v1beta1".to_owned());
    }
}

/// Normalizes arbitrary JSON, which is a tree in upstream's internal version.
///
/// Keys are sorted, numbers have their canonical form, and a `null` default or example becomes
/// absent.
pub fn normalize_json_schema_props(schema: &mut JSONSchemaProps) {
    for value in [&mut schema.default, &mut schema.example] {
        if value.as_ref().is_some_and(JsonValue::is_empty) {
            *value = None;
        }
    }
    schema.default.iter_mut().chain(&mut schema.example).chain(&mut schema.r#enum).for_each(canonical);
}

fn canonical(value: &mut JsonValue) {
    if let Ok(tree) = json::parse(value.as_bytes(), &mut Issues::ignore()) {
        let mut text = Vec::new();
        json::encode_value(&tree, &mut text);
        *value = JsonValue::from_json(Bytes::from(text));
    }
}
