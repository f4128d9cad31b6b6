//! Definitions of custom kinds and their list kinds.

use serde_json::{Map, Value, json};

use super::lossy;
use super::lossy::has_flag;
use super::resource::{CustomResource, OpenApiVersion};
use crate::catalog::Catalog;
use crate::names;
use crate::references::SCHEMAS;

/// The definition of a kind, in v3 form. It omits what a v2 document does not support if it is for
/// one.
pub(super) fn of_kind(catalog: &Catalog, resource: &CustomResource, form: OpenApiVersion) -> Value {
    let mut out = match &resource.schema {
        // Clients reject unspecified fields by the v2 document, so it specifies no fields at all.
        Some(schema) if form == OpenApiVersion::V2 && (resource.preserves_unknown_fields || preserves(schema)) => {
            object()
        }
        Some(schema) => with_schema(catalog, schema.clone(), form),
        None => object(),
    };
    set_kind(&mut out, resource, &resource.kind);
    out
}

/// The definition of the list kind.
pub(super) fn of_list(catalog: &Catalog, resource: &CustomResource) -> Value {
    let item = json!({"$ref": format!("{SCHEMAS}{}", resource.model(&resource.kind))});
    let mut out = json!({
        "description": format!("{} is a list of {}.", resource.list_kind, resource.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": type_meta(catalog, "apiVersion"),
            "items": {"description": format!("The {} of the list.", resource.plural), "type": "array", "items": item},
            "kind": type_meta(catalog, "kind"),
            "metadata": reference(names::LIST_META, "Metadata of the list."),
        },
    });
    set_kind(&mut out, resource, &resource.list_kind);
    out
}

fn object() -> Value {
    json!({"type": "object"})
}

fn set_kind(out: &mut Value, resource: &CustomResource, kind: &str) {
    let CustomResource { group, version, .. } = resource;
    out["x-kubernetes-group-version-kind"] = json!([{"group": group, "kind": kind, "version": version}]);
    if !resource.selectable.is_empty() {
        let fields = resource.selectable.iter().map(|path| json!({ "fieldPath": path }));
        out["x-kubernetes-selectable-fields"] = fields.collect();
    }
}

fn with_schema(catalog: &Catalog, mut schema: Value, form: OpenApiVersion) -> Value {
    each(&mut schema, &mut unfold);
    if form == OpenApiVersion::V2 {
        each(&mut schema, &mut lossy::drop_unsupported);
    }
    each(&mut schema, &mut |schema| embed(catalog, schema, form));
    if let Value::Object(members) = &mut schema {
        add_type_meta(catalog, members);
    }
    schema
}

/// Applies a function to a schema and, recursively, to its subschemas.
fn each(schema: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    let Value::Object(members) = schema else { return };
    change(members);
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        properties.values_mut().for_each(|property| each(property, change));
    }
    for key in ["items", "additionalProperties"] {
        members.get_mut(key).into_iter().for_each(|below| each(below, change));
    }
}

/// Expands `x-kubernetes-int-or-string` (`Structural.Unfold`).
fn unfold(schema: &mut Map<String, Value>) {
    if !has_flag(schema, "x-kubernetes-int-or-string") {
        return;
    }
    let choice = || json!([{"type": "integer"}, {"type": "string"}]);
    let first = schema.get("allOf").and_then(|all| all.get(0)).and_then(|first| first.get("anyOf"));
    if schema.get("anyOf") == Some(&choice()) || first == Some(&choice()) {
        return;
    }
    if !schema.contains_key("anyOf") {
        schema.insert("anyOf".into(), choice());
        return;
    }
    let all = schema.entry("allOf").or_insert_with(|| json!([]));
    if let Value::Array(all) = all {
        all.insert(0, json!({ "anyOf": choice() }));
    }
}

/// Adds kind and metadata to the schema of an embedded object (`addEmbeddedProperties`).
fn embed(catalog: &Catalog, schema: &mut Map<String, Value>, form: OpenApiVersion) {
    let is_open = form == OpenApiVersion::V2 && has_flag(schema, "x-kubernetes-preserve-unknown-fields");
    if is_open || !has_flag(schema, "x-kubernetes-embedded-resource") {
        return;
    }
    add_type_meta(catalog, schema);
    if let Value::Array(required) = schema.entry("required").or_insert_with(|| json!([])) {
        for name in ["kind", "apiVersion"] {
            if !required.iter().any(|known| known == name) {
                required.push(name.into());
            }
        }
    }
}

/// Description of the metadata. Upstream's conformance tests search for its first words.
const METADATA: &str =
    "Standard object's metadata: name, namespace, labels, annotations and what the server records of the object.";

fn add_type_meta(catalog: &Catalog, schema: &mut Map<String, Value>) {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    properties["apiVersion"] = type_meta(catalog, "apiVersion");
    properties["kind"] = type_meta(catalog, "kind");
    properties["metadata"] = reference(names::OBJECT_META, METADATA);
}

/// The schema of `apiVersion` or `kind`, with the description that built-in kinds have.
fn type_meta(catalog: &Catalog, name: &str) -> Value {
    let status = catalog.definitions.get(names::STATUS);
    status
        .map(|status| status["properties"][name].clone())
        .filter(Value::is_object)
        .unwrap_or_else(|| json!({"type": "string"}))
}

fn reference(definition: &str, description: &str) -> Value {
    json!({"description": description, "allOf": [{"$ref": format!("{SCHEMAS}{definition}")}]})
}

/// Whether a schema preserves unknown fields.
fn preserves(schema: &Value) -> bool {
    schema.as_object().is_some_and(|schema| has_flag(schema, "x-kubernetes-preserve-unknown-fields"))
}
