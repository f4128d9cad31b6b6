//! Upstream's internal types, for messages that show values as JSON
//! (`pkg/apis/apiextensions/types.go`).

use apimachinery::apiextensions::v1beta1::CustomResourceDefinitionVersion;
use machinery::def::StructDef;
use machinery::field_error::BadValue;
use machinery::json::{self, InternalType};
use machinery::reflect::{Ref, Struct};

/// Formats a struct for messages.
pub fn shown<T: Struct>(value: &T) -> BadValue {
    let mut out = Vec::new();
    json::encode_internal(Ref::of(value), find, &mut out);
    BadValue::Json(String::from_utf8_lossy(&out).into_owned())
}

/// Formats the versions of a definition for messages. Schemas and subresources that all versions
/// share are at the top level, even if they are empty.
pub fn shown_versions(versions: &[CustomResourceDefinitionVersion]) -> BadValue {
    if versions.is_empty() {
        return BadValue::None;
    }
    let items: Vec<String> = versions.iter().map(|version| shown(version).to_string()).collect();
    let text = format!("[{}]", items.join(","));
    match versions.iter().all(|version| version.schema.is_none() && version.subresources.is_none()) {
        true => BadValue::Exact(text),
        false => BadValue::Json(text),
    }
}

fn find(def: &StructDef) -> Option<&'static InternalType> {
    TABLE.iter().find(|t| t.name == def.name)
}

const fn names(name: &'static str, names: &'static [(&'static str, &'static str)]) -> InternalType {
    InternalType { name, names, ..InternalType::PLAIN }
}

static TABLE: [InternalType; 4] = [
    InternalType {
        name: "JSONSchemaProps",
        names: &[
            ("id", "ID"),
            ("$schema", "Schema"),
            ("$ref", "Ref"),
            ("x-kubernetes-preserve-unknown-fields", "XPreserveUnknownFields"),
            ("x-kubernetes-embedded-resource", "XEmbeddedResource"),
            ("x-kubernetes-int-or-string", "XIntOrString"),
            ("x-kubernetes-list-map-keys", "XListMapKeys"),
            ("x-kubernetes-list-type", "XListType"),
            ("x-kubernetes-map-type", "XMapType"),
            ("x-kubernetes-validations", "XValidations"),
        ],
        order: &[
            "id",
            "$schema",
            "$ref",
            "description",
            "type",
            "nullable",
            "format",
            "title",
            "default",
            "maximum",
            "exclusiveMaximum",
            "minimum",
            "exclusiveMinimum",
            "maxLength",
            "minLength",
            "pattern",
            "maxItems",
            "minItems",
            "uniqueItems",
            "multipleOf",
            "enum",
            "maxProperties",
            "minProperties",
            "required",
            "items",
            "allOf",
            "oneOf",
            "anyOf",
            "not",
            "properties",
            "additionalProperties",
            "patternProperties",
            "dependencies",
            "additionalItems",
            "definitions",
            "externalDocs",
            "example",
            "x-kubernetes-preserve-unknown-fields",
            "x-kubernetes-embedded-resource",
            "x-kubernetes-int-or-string",
            "x-kubernetes-list-map-keys",
            "x-kubernetes-list-type",
            "x-kubernetes-map-type",
            "x-kubernetes-validations",
        ],
        numbers: &[],
    },
    InternalType {
        name: "JSONSchemaPropsOrArray",
        names: &[("jsonSchemas", "JSONSchemas")],
        order: &["schema", "jsonSchemas"],
        numbers: &[],
    },
    names("CustomResourceColumnDefinition", &[("JSONPath", "JSONPath")]),
    names("SelectableField", &[("jsonPath", "JSONPath")]),
];
