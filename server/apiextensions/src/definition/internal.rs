//! Upstream's internal types, which messages show as JSON (`pkg/apis/apiextensions/types.go`).

use machinery::def::StructDef;
use machinery::field_error::BadValue;
use machinery::json::{self, InternalType};
use machinery::reflect::{Ref, Struct};

/// A struct as messages show it.
pub fn shown<T: Struct>(value: &T) -> BadValue {
    let mut out = Vec::new();
    json::encode_internal(Ref::of(value), find, &mut out);
    BadValue::Json(String::from_utf8_lossy(&out).into_owned())
}

/// A list of structs as messages show it.
pub fn shown_list<T: Struct>(values: &[T]) -> BadValue {
    if values.is_empty() {
        return BadValue::None;
    }
    let items: Vec<String> = values.iter().map(|value| shown(value).to_string()).collect();
    BadValue::Json(format!("[{}]", items.join(",")))
}

fn find(def: &StructDef) -> Option<&'static InternalType> {
    TABLE.iter().find(|t| t.name == def.name)
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
    },
    InternalType {
        name: "JSONSchemaPropsOrArray",
        names: &[("jsonSchemas", "JSONSchemas")],
        order: &["schema", "jsonSchemas"],
    },
    InternalType { name: "CustomResourceColumnDefinition", names: &[("JSONPath", "JSONPath")], order: &[] },
    InternalType { name: "SelectableField", names: &[("jsonPath", "JSONPath")], order: &[] },
];
