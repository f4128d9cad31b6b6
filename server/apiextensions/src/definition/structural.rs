//! Checks that a schema is structural (`apiserver/schema/validation.go`). Types are specified
//! outside of `allOf`, `anyOf`, `oneOf` and `not`. Fields in those must also be specified outside
//! of them.

use apimachinery::apiextensions::v1::JSONSchemaProps;
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;

use super::visit;

/// The position of a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Returns the reason why a schema cannot be converted to a structural one (`NewStructural`).
pub fn unsupported(props: &JSONSchemaProps) -> Option<String> {
    let mut found = None;
    visit::each(props, &mut |props| {
        let what = [
            (!props.id.is_empty(), "'id'"),
            (!props.schema.is_empty(), "'schema'"),
            (props.r#ref.as_ref().is_some_and(|to| !to.is_empty()), "'$ref'"),
            (!props.pattern_properties.is_empty(), "'patternProperties'"),
            (!props.dependencies.is_empty(), "'dependencies'"),
            (props.additional_items.is_some(), "'additionalItems'"),
            (!props.definitions.is_empty(), "'definitions'"),
        ];
        let what = what.iter().find(|(is, _)| *is).map(|(_, name)| format!("OpenAPIV3Schema {name} is not supported"));
        let items = props.items.as_ref().is_some_and(|items| !items.json_schemas.is_empty());
        let items = items.then(|| "OpenAPIV3Schema 'items' must be a schema, but is an array".to_owned());
        let preserve = props.x_kubernetes_preserve_unknown_fields == Some(false);
        let preserve = preserve
            .then(|| "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined".to_owned());
        found = found.take().or(what).or(preserve).or(items);
    });
    found
}

/// Returns the errors of a schema, sorted by text.
pub fn check(path: &Path<'_>, props: &JSONSchemaProps) -> Vec<FieldError> {
    let mut errors = Vec::new();
    invariants(path, props, Level::Root, &mut errors);
    complete(path, path, props, Some(props), &mut errors);
    errors.sort_by_key(ToString::to_string);
    errors
}

fn items(props: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    props.items.as_ref().and_then(|items| items.schema.as_deref())
}

fn additional(props: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    props.additional_properties.as_ref().and_then(|of| of.schema.as_deref())
}

fn preserves(props: &JSONSchemaProps) -> bool {
    props.x_kubernetes_preserve_unknown_fields == Some(true)
}

fn invariants(path: &Path<'_>, props: &JSONSchemaProps, level: Level, errors: &mut Vec<FieldError>) {
    let item = items(props);
    if props.r#type == "array" && item.is_none() {
        errors.push(FieldError::required(&path.child("items"), "must be specified"));
    }
    if let Some(item) = item {
        invariants(&path.child("items"), item, Level::Item, errors);
    }
    let properties = path.child("properties");
    for (name, property) in &props.properties {
        invariants(&properties.key(name), property, Level::Field, errors);
    }
    if props.additional_properties.is_some() && level == Level::Root {
        errors.push(FieldError::forbidden(&path.child("additionalProperties"), "must not be used at the root"));
    }
    if let Some(additional) = additional(props) {
        invariants(&path.child("additionalProperties"), additional, Level::Field, errors);
    }
    extensions(path, props, errors);
    let (any_of, first_all_of) = (is_int_or_string(&props.any_of), props.all_of.first());
    let skip = Skip { any_of, first_all_of: first_all_of.is_some_and(|first| is_int_or_string(&first.any_of)) };
    values(path, props, skip, errors);
    types(path, props, level, errors);
    embedded(path, props, level, errors);
}

fn extensions(path: &Path<'_>, props: &JSONSchemaProps, errors: &mut Vec<FieldError>) {
    const WHY: &str = "must be false if x-kubernetes-int-or-string is true";
    if props.x_kubernetes_int_or_string && preserves(props) {
        errors.push(FieldError::invalid(&path.child("x-kubernetes-preserve-unknown-fields"), true, WHY));
    }
    if props.x_kubernetes_int_or_string && props.x_kubernetes_embedded_resource {
        errors.push(FieldError::invalid(&path.child("x-kubernetes-embedded-resource"), true, WHY));
    }
}

fn types(path: &Path<'_>, props: &JSONSchemaProps, level: Level, errors: &mut Vec<FieldError>) {
    let (kind, at) = (props.r#type.as_str(), path.child("type"));
    if props.x_kubernetes_embedded_resource && kind != "object" {
        const WHY: &str = "must be object if x-kubernetes-embedded-resource is true";
        errors.push(match kind {
            "" => FieldError::required(&at, WHY),
            kind => FieldError::invalid(&at, kind, WHY),
        });
    } else if kind.is_empty() && !props.x_kubernetes_int_or_string && !preserves(props) {
        let why = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        errors.push(FieldError::required(&at, why));
    }
    if props.x_kubernetes_embedded_resource && props.additional_properties.is_some() {
        let why = "must not be used if x-kubernetes-embedded-resource is set";
        errors.push(FieldError::forbidden(&path.child("additionalProperties"), why));
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        errors.push(FieldError::invalid(&at, kind, "must be object at the root"));
    }
}

fn embedded(path: &Path<'_>, props: &JSONSchemaProps, level: Level, errors: &mut Vec<FieldError>) {
    let is_object = level == Level::Root || props.x_kubernetes_embedded_resource;
    let properties = path.child("properties");
    for name in ["kind", "apiVersion"] {
        if let Some(property) = props.properties.get(name).filter(|p| is_object && p.r#type != "string") {
            errors.push(FieldError::invalid(&properties.key(name).child("type"), &property.r#type, "must be string"));
        }
    }
    if let Some(metadata) = props.properties.get("metadata") {
        let at = properties.key("metadata");
        if is_object && metadata.r#type != "object" {
            errors.push(FieldError::invalid(&at.child("type"), &metadata.r#type, "must be object"));
        }
        if level == Level::Root && !has_names_only(metadata) {
            let why =
                "must not specify anything other than name and generateName, but metadata is implicitly specified";
            errors.push(FieldError::forbidden(&at, why));
        }
    }
    if props.x_kubernetes_embedded_resource && !preserves(props) && props.properties.is_empty() {
        let why =
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        errors.push(FieldError::required(&properties, why));
    }
}

fn has_names_only(metadata: &JSONSchemaProps) -> bool {
    let mut rest = metadata.clone();
    if rest.properties.keys().all(|name| matches!(name.as_str(), "name" | "generateName")) {
        rest.properties.clear();
    }
    rest.r#type.clear();
    rest.default = None;
    rest == JSONSchemaProps::default()
}

/// Whether `anyOf` is the integer-or-string pattern, the only one with types in `anyOf`.
fn is_int_or_string(any_of: &[JSONSchemaProps]) -> bool {
    let of = |kind: &str| JSONSchemaProps { r#type: kind.into(), ..JSONSchemaProps::default() };
    matches!(any_of, [first, second] if *first == of("integer") && *second == of("string"))
}

#[derive(Clone, Copy, Default)]
struct Skip {
    any_of: bool,
    first_all_of: bool,
}

fn values(path: &Path<'_>, props: &JSONSchemaProps, skip: Skip, errors: &mut Vec<FieldError>) {
    let any_of = path.child("anyOf");
    for (index, nested_props) in props.any_of.iter().enumerate().filter(|_| !skip.any_of) {
        nested(&any_of.index(index), nested_props, Skip::default(), errors);
    }
    let all_of = path.child("allOf");
    for (index, nested_props) in props.all_of.iter().enumerate() {
        let skip = Skip { any_of: skip.first_all_of && index == 0, first_all_of: false };
        nested(&all_of.index(index), nested_props, skip, errors);
    }
    let one_of = path.child("oneOf");
    for (index, nested_props) in props.one_of.iter().enumerate() {
        nested(&one_of.index(index), nested_props, Skip::default(), errors);
    }
    if let Some(not) = &props.not {
        nested(&path.child("not"), not, Skip::default(), errors);
    }
    if !props.pattern.is_empty()
        && let Some(why) = schema::pattern_error(&props.pattern)
    {
        let why = format!("must be a valid regular expression, but isn't: {why}");
        errors.push(FieldError::invalid(&path.child("pattern"), &props.pattern, why));
    }
}

/// Reports fields that are forbidden within `allOf` and the like.
fn nested(path: &Path<'_>, props: &JSONSchemaProps, skip: Skip, errors: &mut Vec<FieldError>) {
    values(path, props, skip, errors);
    if let Some(item) = items(props) {
        nested(&path.child("items"), item, Skip::default(), errors);
    }
    let properties = path.child("properties");
    for (name, property) in &props.properties {
        nested(&properties.key(name), property, Skip::default(), errors);
    }
    let allows = props.additional_properties.as_ref().is_some_and(|of| of.schema.is_some() || of.allows);
    let forbidden = [
        ("type", !props.r#type.is_empty(), "must be empty to be structural"),
        ("additionalProperties", allows, "must be undefined to be structural"),
        ("default", props.default.is_some(), "must be undefined to be structural"),
        ("title", !props.title.is_empty(), "must be empty to be structural"),
        ("description", !props.description.is_empty(), "must be empty to be structural"),
        ("nullable", props.nullable, "must be false to be structural"),
        ("x-kubernetes-preserve-unknown-fields", preserves(props), "must be false to be structural"),
        ("x-kubernetes-embedded-resource", props.x_kubernetes_embedded_resource, "must be false to be structural"),
        ("x-kubernetes-int-or-string", props.x_kubernetes_int_or_string, "must be false to be structural"),
        ("x-kubernetes-list-map-keys", !props.x_kubernetes_list_map_keys.is_empty(), "must be empty to be structural"),
        ("x-kubernetes-list-type", props.x_kubernetes_list_type.is_some(), "must be undefined to be structural"),
        ("x-kubernetes-map-type", props.x_kubernetes_map_type.is_some(), "must be undefined to be structural"),
        ("x-kubernetes-validations", !props.x_kubernetes_validations.is_empty(), "must be empty to be structural"),
    ];
    for (name, _, why) in forbidden.into_iter().filter(|(_, is_set, _)| *is_set) {
        errors.push(FieldError::forbidden(&path.child(name), why));
    }
    if props.properties.contains_key("metadata") {
        errors.push(FieldError::forbidden(&properties.key("metadata"), "must not be specified in a nested context"));
    }
}

/// Reports fields in `allOf` and the like that are missing in the structure.
fn complete(
    structure: &Path<'_>,
    path: &Path<'_>,
    props: &JSONSchemaProps,
    of: Option<&JSONSchemaProps>,
    errors: &mut Vec<FieldError>,
) {
    let Some(of) = of else {
        errors.push(FieldError::required(structure, format!("because it is defined in {path}")));
        return;
    };
    let each = |path: &Path<'_>, nested: &JSONSchemaProps, errors: &mut Vec<FieldError>| {
        complete_nested(structure, path, nested, Some(of), errors);
    };
    if let Some(not) = &props.not {
        each(&path.child("not"), not, errors);
    }
    for (name, list) in [("allOf", &props.all_of), ("anyOf", &props.any_of), ("oneOf", &props.one_of)] {
        let at = path.child(name);
        for (index, nested) in list.iter().enumerate() {
            each(&at.index(index), nested, errors);
        }
    }
}

fn complete_nested(
    structure: &Path<'_>,
    path: &Path<'_>,
    props: &JSONSchemaProps,
    of: Option<&JSONSchemaProps>,
    errors: &mut Vec<FieldError>,
) {
    complete(structure, path, props, of, errors);
    let Some(of) = of else { return };
    if let Some(item) = items(props) {
        complete_nested(&structure.child("items"), &path.child("items"), item, items(of), errors);
    }
    let (own, theirs) = (structure.child("properties"), path.child("properties"));
    for (name, property) in &props.properties {
        complete_nested(&own.key(name), &theirs.key(name), property, of.properties.get(name), errors);
    }
    if let Some(nested) = additional(props) {
        let name = "additionalProperties";
        complete_nested(&structure.child(name), &path.child(name), nested, additional(of), errors);
    }
}

/// Formats a list type for error messages.
pub fn list_type(value: Option<&str>) -> BadValue {
    value.map_or(BadValue::None, BadValue::json_string)
}
