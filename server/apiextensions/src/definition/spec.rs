//! Validation of specifications of definitions (`validateCustomResourceDefinitionSpec` and its
//! update).

use std::collections::{HashMap, HashSet};

use apimachinery::apiextensions::v1::{
    CustomResourceDefinitionNames, CustomResourceSubresources, CustomResourceValidation, JSONSchemaProps,
    SelectableField,
};
use apimachinery::apiextensions::v1beta1::{
    CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionSpec,
    CustomResourceDefinitionVersion,
};
use machinery::field_path::Path;
use machinery::format::{Messages, is_dns1035_label, is_dns1123_subdomain};
use machinery::hooks::Validation;
use machinery::json;
use machinery::reflect::Ref;

use super::openapi::Requirements;
use super::{conversion, defaults, field_path, internal, openapi, structural, visit};

/// Checks to run. Checks that the previous definition violates are skipped.
struct Options {
    openapi: Requirements,
    schemas: bool,
    structural: bool,
    pruned_defaults: bool,
    known_review: bool,
    /// Names of versions with an unchanged schema.
    unchanged: Vec<String>,
}

impl Options {
    fn after(new: &CustomResourceDefinitionSpec, old: Option<&CustomResourceDefinitionSpec>) -> Self {
        let Some(old) = old else {
            return Options {
                openapi: Requirements::ALL,
                schemas: true,
                structural: true,
                pruned_defaults: true,
                known_review: true,
                unchanged: Vec::new(),
            };
        };
        let is_structural = |props: &JSONSchemaProps| {
            structural::unsupported(props).is_none() && structural::check(&Path::NONE, props).is_empty()
        };
        let context = machinery::hooks::WriteContext::default();
        let is_pruned = |props: &JSONSchemaProps| {
            let faults = defaults::check(&context, &Path::NONE, props, true);
            !faults.iter().any(|fault| fault.detail == "must not have unknown fields")
        };
        Options {
            openapi: Requirements::after(schemas(old)),
            schemas: old.validation.is_some() || old.versions.iter().all(|version| props(&version.schema).is_some()),
            structural: schemas(old).all(is_structural),
            pruned_defaults: schemas(old).all(is_pruned),
            known_review: conversion::has_known_review(old.conversion.as_deref()),
            unchanged: unchanged_schemas(new, old),
        }
    }
}

/// Returns the versions with the schema of the previous definition
/// (`findVersionsWithUnchangedSchemas`).
fn unchanged_schemas(new: &CustomResourceDefinitionSpec, old: &CustomResourceDefinitionSpec) -> Vec<String> {
    let (of_new, of_old) = (schemas_by_version(new), schemas_by_version(old));
    let names = new.versions.iter().map(|version| version.name.as_str());
    names.filter(|name| of_new.get(name) == of_old.get(name)).map(str::to_owned).collect()
}

/// Returns schemas by version name. Of versions with the same name, the first counts.
fn schemas_by_version(spec: &CustomResourceDefinitionSpec) -> HashMap<&str, Option<&JSONSchemaProps>> {
    let schema = |version| props(version).or(props(&spec.validation));
    spec.versions.iter().rev().map(|version| (version.name.as_str(), schema(&version.schema))).collect()
}

/// Returns all schemas of a definition.
fn schemas(spec: &CustomResourceDefinitionSpec) -> impl Iterator<Item = &JSONSchemaProps> + Clone {
    let of_versions = spec.versions.iter().filter_map(|version| props(&version.schema));
    props(&spec.validation).into_iter().chain(of_versions)
}

fn props(validation: &Option<Box<CustomResourceValidation>>) -> Option<&JSONSchemaProps> {
    validation.as_ref().and_then(|validation| validation.open_api_v3_schema.as_deref())
}

/// Validates the specification of a definition, and its immutable fields.
pub fn check(v: &mut Validation<'_>, new: &CustomResourceDefinition, old: Option<&CustomResourceDefinition>) {
    let (spec, path) = (&new.spec, &Path::new("spec"));
    let mut options = Options::after(spec, old.map(|old| &old.spec));
    group(v, spec, path);
    conversion::choice(v, &path.child("scope"), &spec.scope, &["Cluster", "Namespaced"]);
    // Pruning requires structural schemas, and this API version can only be written with pruning.
    options.structural |= spec.preserve_unknown_fields != Some(true);
    has_schemas(v, spec, &options, path);
    if spec.preserve_unknown_fields == Some(true) && schemas(spec).any(|p| visit::any(p, |p| p.default.is_some())) {
        v.invalid(&path.child("preserveUnknownFields"), true, "must be false in order to use defaults in the schema");
    }
    versions(v, spec, &options, path);
    top_names(v, spec, path);
    top(v, spec, &options, path);
    if spec.preserve_unknown_fields == Some(true)
        && let Some(conversion) = spec.conversion.as_ref().filter(|conversion| conversion.strategy != "None")
    {
        let at = path.child("conversion");
        let why = "must be None if spec.preserveUnknownFields is true";
        v.invalid(&at.child("strategy"), &conversion.strategy, why);
    }
    if let Some(conversion) = &spec.conversion {
        conversion::check(v, conversion, options.known_review, &path.child("conversion"));
    }
    if let Some(old) = old {
        unchanged(v, new, old, path);
    }
}

fn joined(v: &mut Validation<'_>, path: &Path<'_>, value: &str, prefix: &str, faults: Messages) {
    let texts: Vec<String> = faults.into_iter().map(|fault| fault.to_string()).collect();
    if !texts.is_empty() {
        v.invalid(path, value, format!("{prefix}{}", texts.join(",")));
    }
}

fn group(v: &mut Validation<'_>, spec: &CustomResourceDefinitionSpec, path: &Path<'_>) {
    let (at, faults) = (path.child("group"), is_dns1123_subdomain(&spec.group));
    if spec.group.is_empty() {
        v.required(&at, "");
    } else if !faults.is_empty() {
        joined(v, &at, &spec.group, "", faults);
    } else if !spec.group.contains('.') {
        v.invalid(&at, &spec.group, "should be a domain with at least one dot");
    }
}

fn has_schemas(v: &mut Validation<'_>, spec: &CustomResourceDefinitionSpec, options: &Options, path: &Path<'_>) {
    if props(&spec.validation).is_some() {
        return;
    }
    let versions = path.child("versions");
    for (index, version) in spec.versions.iter().enumerate().filter(|(_, version)| props(&version.schema).is_none()) {
        let at = versions.index(index);
        let at = at.child("schema");
        if options.schemas {
            v.required(&at.child("openAPIV3Schema"), "");
        } else if spec.preserve_unknown_fields != Some(true) && version.served {
            v.required(&at.child("openAPIV3Schema"), "because otherwise all fields are pruned");
        }
    }
}

fn has_status(subresources: Option<&CustomResourceSubresources>) -> bool {
    subresources.is_some_and(|subresources| subresources.status.is_some())
}

fn versions(v: &mut Validation<'_>, spec: &CustomResourceDefinitionSpec, options: &Options, path: &Path<'_>) {
    let at = path.child("versions");
    let per_version = spec.versions.iter().any(|version| version.subresources.is_some());
    for (index, each) in spec.versions.iter().enumerate() {
        let at = at.index(index);
        joined(v, &at.child("name"), &each.name, "", is_dns1035_label(&each.name));
        let subresources = if per_version { &each.subresources } else { &spec.subresources };
        version(v, each, has_status(subresources.as_deref()), options, &at);
    }
    let shown = || internal::shown_versions(&spec.versions);
    let mut names = HashSet::new();
    if !spec.versions.iter().all(|each| names.insert(each.name.as_str())) {
        v.invalid(&at, shown(), "must contain unique version names");
    }
    if spec.versions.iter().filter(|version| version.storage).count() != 1 {
        v.invalid(&at, shown(), "must have exactly one version marked as storage version");
    }
    if !spec.version.is_empty() {
        joined(v, &path.child("version"), &spec.version, "", is_dns1035_label(&spec.version));
    }
}

fn version(
    v: &mut Validation<'_>,
    version: &CustomResourceDefinitionVersion,
    has_status: bool,
    options: &Options,
    path: &Path<'_>,
) {
    deprecation_warning(v, version, &path.child("deprecationWarning"));
    validation(v, (version.schema.as_deref(), version.name.as_str()), has_status, options, &path.child("schema"));
    subresources(v, version.subresources.as_deref(), &path.child("subresources"));
    columns(v, &version.additional_printer_columns, path);
    if !version.selectable_fields.is_empty() {
        let at = path.child("selectableFields");
        match props(&version.schema) {
            Some(schema) => selectable(v, &version.selectable_fields, schema, &at),
            None => v.invalid(&at, "", "may only be set when `version.schema.openAPIV3Schema` is not included"),
        }
    }
}

fn deprecation_warning(v: &mut Validation<'_>, version: &CustomResourceDefinitionVersion, path: &Path<'_>) {
    let Some(text) = &version.deprecation_warning else { return };
    let shown = || machinery::field_error::BadValue::json_string(text);
    if !version.deprecated {
        return v.invalid(path, shown(), "can only be set for deprecated versions");
    }
    if text.len() > 256 {
        v.invalid(path, shown(), "must be <= 256 characters long");
    }
    if text.is_empty() {
        v.invalid(path, shown(), "must not be an empty string");
    }
    if let Some((at, _)) = text.char_indices().find(|(_, c)| !machinery::format::is_printable(&c.to_string())) {
        let why = format!("must only contain printable UTF-8 characters; non-printable character found at index {at}");
        v.invalid(path, shown(), why);
    }
}

/// `validateCustomResourceDefinitionValidation`
fn validation(
    v: &mut Validation<'_>,
    (validation, version): (Option<&CustomResourceValidation>, &str),
    has_status: bool,
    options: &Options,
    path: &Path<'_>,
) {
    let Some(schema) = validation.and_then(|validation| validation.open_api_v3_schema.as_deref()) else { return };
    let at = path.child("openAPIV3Schema");
    let before = v.errors.len();
    if has_status {
        root_fields(v, schema, &at);
    }
    if schema.nullable {
        v.forbidden(&path.child("openAPIV3Schema.nullable"), "nullable cannot be true at the root");
    }
    let unsupported = structural::unsupported(schema).filter(|_| options.structural);
    let mut has_rules = options.structural && unsupported.is_none();
    if has_rules {
        let mut found = structural::check(&at, schema);
        if found.is_empty() {
            found = defaults::check(v.context, &at, schema, options.pruned_defaults);
        }
        has_rules = found.is_empty();
        v.errors.extend(found);
    }
    let requirements =
        Requirements { cheap_rules: options.unchanged.iter().all(|name| name != version), ..options.openapi };
    v.errors.extend(openapi::check(&at, schema, requirements, has_rules));
    if let Some(why) = unsupported.filter(|_| v.errors.len() == before) {
        v.invalid(&at, "", why);
    }
}

/// Checks the fields at the root of a schema with a status subresource. Other fields would not
/// apply to the status.
fn root_fields(v: &mut Validation<'_>, schema: &JSONSchemaProps, path: &Path<'_>) {
    const ALLOWED: &str = "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]";
    const FIELDS: [&str; 22] = [
        "description",
        "type",
        "format",
        "title",
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
        "required",
        "items",
        "properties",
        "externalDocs",
        "example",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-validations",
    ];
    let document = json::to_value(Ref::of(schema));
    let others: Vec<&String> = match &document {
        serde_json::Value::Object(members) => members.keys().filter(|name| !FIELDS.contains(&name.as_str())).collect(),
        _ => Vec::new(),
    };
    let is_before_type = |name: &&String| matches!(name.as_str(), "id" | "$schema" | "$ref");
    let wrong_type = !schema.r#type.is_empty() && schema.r#type != "object";
    if wrong_type && !others.iter().any(is_before_type) {
        let why =
            "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
        return v.invalid(&path.child("type"), &schema.r#type, why);
    }
    if !others.is_empty() {
        let why =
            format!("only {ALLOWED} fields are allowed at the root of the schema if the status subresource is enabled");
        v.invalid(path, internal::shown(schema), why);
    }
}

fn top_names(v: &mut Validation<'_>, spec: &CustomResourceDefinitionSpec, path: &Path<'_>) {
    let at = path.child("names");
    let required = [
        ("plural", &spec.names.plural),
        ("singular", &spec.names.singular),
        ("kind", &spec.names.kind),
        ("listKind", &spec.names.list_kind),
    ];
    required.iter().for_each(|(name, value)| v.filled(&at.child(name), value));
    names(v, &spec.names, &at);
}

/// `ValidateCustomResourceDefinitionNames`
pub fn names(v: &mut Validation<'_>, names: &CustomResourceDefinitionNames, path: &Path<'_>) {
    const MIXED: &str = "may have mixed case, but should otherwise match: ";
    let (kind, list_kind) = (names.kind.to_lowercase(), names.list_kind.to_lowercase());
    let all = [
        ("plural", &names.plural, &names.plural, ""),
        ("singular", &names.singular, &names.singular, ""),
        ("kind", &names.kind, &kind, MIXED),
        ("listKind", &names.list_kind, &list_kind, MIXED),
    ];
    for (field, value, checked, prefix) in all.into_iter().filter(|(_, value, _, _)| !value.is_empty()) {
        joined(v, &path.child(field), value, prefix, is_dns1035_label(checked));
    }
    let short = path.child("shortNames");
    for (index, name) in names.short_names.iter().enumerate() {
        joined(v, &short.index(index), name, "", is_dns1035_label(name));
    }
    if !names.kind.is_empty() && names.kind == names.list_kind {
        v.invalid(&path.child("listKind"), &names.list_kind, "kind and listKind may not be the same");
    }
    let categories = path.child("categories");
    for (index, category) in names.categories.iter().enumerate() {
        joined(v, &categories.index(index), category, "", is_dns1035_label(category));
    }
}

/// Checks the fields that all versions share.
fn top(v: &mut Validation<'_>, spec: &CustomResourceDefinitionSpec, options: &Options, path: &Path<'_>) {
    let of_versions = spec.versions.iter().map(|version| version.subresources.as_deref());
    let any_status = std::iter::once(spec.subresources.as_deref()).chain(of_versions).any(has_status);
    validation(v, (spec.validation.as_deref(), spec.version.as_str()), any_status, options, &path.child("validation"));
    subresources(v, spec.subresources.as_deref(), &path.child("subresources"));
    columns(v, &spec.additional_printer_columns, path);
    if !spec.selectable_fields.is_empty() {
        let at = path.child("selectableFields");
        match props(&spec.validation) {
            Some(schema) => selectable(v, &spec.selectable_fields, schema, &at),
            None => v.invalid(&at, "", "may only be set when validations.schema is included"),
        }
    }
}

/// `ValidateCustomResourceDefinitionSubresources`
fn subresources(v: &mut Validation<'_>, subresources: Option<&CustomResourceSubresources>, path: &Path<'_>) {
    let Some(scale) = subresources.and_then(|subresources| subresources.scale.as_deref()) else { return };
    let mut check = |name: &str, value: &str, below: &[&str], why: &'static str| {
        let at = path.child(name);
        if !value.starts_with('.') {
            v.invalid(&at, value, "must be a simple json path starting with .");
        } else if !below.iter().any(|below| value.starts_with(below)) {
            v.invalid(&at, value, why);
        }
    };
    let required = [
        ("scale.specReplicasPath", &scale.spec_replicas_path, ".spec.", "should be a json path under .spec"),
        ("scale.statusReplicasPath", &scale.status_replicas_path, ".status.", "should be a json path under .status"),
    ];
    let mut missing = Vec::new();
    for (name, value, below, why) in required {
        match value.as_str() {
            "" => missing.push(name),
            value => check(name, value, &[below], why),
        }
    }
    if let Some(selector) = scale.label_selector_path.as_deref().filter(|selector| !selector.is_empty()) {
        let why = "should be a json path under either .spec or .status";
        check("scale.labelSelectorPath", selector, &[".spec.", ".status."], why);
    }
    missing.into_iter().for_each(|name| v.required(&path.child(name), ""));
}

/// `ValidateCustomResourceColumnDefinition`
fn columns(v: &mut Validation<'_>, columns: &[CustomResourceColumnDefinition], path: &Path<'_>) {
    const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
    const FORMATS: [&str; 9] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password", ""];
    let at = path.child("additionalPrinterColumns");
    for (index, column) in columns.iter().enumerate() {
        let at = at.index(index);
        v.filled(&at.child("name"), &column.name);
        let why = format!("must be one of {}", TYPES.join(","));
        match column.r#type.as_str() {
            "" => v.required(&at.child("type"), why),
            kind if TYPES.contains(&kind) => {}
            kind => v.invalid(&at.child("type"), kind, why),
        }
        if !FORMATS.contains(&column.format.as_str()) {
            let why = format!("must be one of {}", FORMATS[..8].join(","));
            v.invalid(&at.child("format"), &column.format, why);
        }
        match column.json_path.as_str() {
            "" => v.required(&at.child("JSONPath"), ""),
            path if path.starts_with('.') => {}
            path => v.invalid(&at.child("JSONPath"), path, "must be a simple json path starting with ."),
        }
    }
}

/// Maximum number of selectable fields.
const MOST_SELECTABLE: usize = 8;

/// `ValidateCustomResourceSelectableFields`
fn selectable(v: &mut Validation<'_>, fields: &[SelectableField], schema: &JSONSchemaProps, path: &Path<'_>) {
    let mut seen: Vec<String> = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let at = path.index(index);
        let (at, text) = (at.child("jsonPath"), field.json_path.as_str());
        if text.is_empty() {
            v.required(&at, "");
            continue;
        }
        let found = match field_path::find(text, schema, false) {
            Ok(found) => found,
            Err(why) => {
                v.invalid(&at, text, format!("is an invalid path: {why}"));
                continue;
            }
        };
        if found.names.first().is_some_and(|name| name == "metadata") {
            v.invalid(&at, text, "must not point to fields in metadata");
        }
        if !matches!(found.schema.r#type.as_str(), "string" | "boolean" | "integer") {
            let why = "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
            v.invalid(&at, text, why);
        }
        if seen.contains(&found.text) {
            v.duplicate(&at, text);
        } else {
            seen.push(found.text);
        }
    }
    if seen.len() > MOST_SELECTABLE {
        v.too_many(path, seen.len(), MOST_SELECTABLE);
    }
}

/// Checks immutable fields: resource names always, and fields that determine storage once a
/// definition is established.
fn unchanged(v: &mut Validation<'_>, new: &CustomResourceDefinition, old: &CustomResourceDefinition, path: &Path<'_>) {
    let (spec, before) = (&new.spec, &old.spec);
    let established = old.status.conditions.iter().any(|c| c.r#type == "Established" && c.status == "True");
    let names = path.child("names");
    let (scope, kind) = (path.child("scope"), names.child("kind"));
    let fields = [
        (established, &scope, &spec.scope, &before.scope, true),
        (established, &kind, &spec.names.kind, &before.names.kind, false),
        (true, &path.child("group"), &spec.group, &before.group, false),
        (true, &names.child("plural"), &spec.names.plural, &before.names.plural, false),
    ];
    for (is_fixed, at, value, before, is_named_type) in fields {
        if is_fixed && value != before {
            let shown = match is_named_type {
                true => machinery::field_error::BadValue::json_string(value),
                false => value.as_str().into(),
            };
            v.invalid(at, shown, "field is immutable");
        }
    }
}
