//! What a volume is asked to be: the spec of claims, and of the templates of claims.

use machinery::def::Shape;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, NameRule};
use machinery::hooks::Validation;
use machinery::reflect::{Owned, Ref, Struct};

use super::resources::{validate_positive_quantity, validate_resource_quantity};
use generated::core::v1::{
    PersistentVolumeClaimSpec, PersistentVolumeClaimTemplate, TypedLocalObjectReference, TypedObjectReference,
};
use generated::meta::v1::ObjectMeta;
use meta::{SelectorOptions, validate_annotations, validate_label_selector_with, validate_labels};

/// How volumes may be mounted.
pub const ACCESS_MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
/// What is in volumes.
pub const VOLUME_MODES: [&str; 2] = ["Block", "Filesystem"];

/// What stored claims may keep although it is wrong (`PersistentVolumeClaimSpecValidationOptions`).
#[derive(Clone, Copy, Debug, Default)]
pub struct ClaimOptions {
    pub allow_invalid_label_values: bool,
    pub allow_invalid_api_group: bool,
}

/// `ValidatePersistentVolumeClaimTemplate`
pub fn validate_claim_template(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    template: &PersistentVolumeClaimTemplate,
    options: ClaimOptions,
) {
    validate_template_meta(v, &path.child("metadata"), &template.metadata);
    validate_claim_spec(v, &path.child("spec"), &template.spec, options);
}

/// Metadata of which only labels and annotations are used (`ValidateTemplateObjectMeta`).
pub fn validate_template_meta(v: &mut Validation<'_>, path: &Path<'_>, meta: &ObjectMeta) {
    validate_annotations(v, &path.child("annotations"), &meta.annotations);
    validate_labels(v, &path.child("labels"), &meta.labels);
    refuse_fields(v, path, meta, &["annotations", "labels"], "cannot be set");
}

/// Refuses every field that is set and not among `allowed`, by JSON name (`validateFieldAllowList`). An empty list or
/// map that was sent is set, as upstream.
pub(super) fn refuse_fields<T: Struct>(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    value: &T,
    allowed: &[&str],
    refusal: &'static str,
) {
    let (value, empty) = (Ref::of(value), Owned::new(T::def()));
    for (index, field) in T::def().fields.iter().enumerate() {
        if allowed.contains(&field.json) {
            continue;
        }
        let is_list =
            matches!(field.shape(), Shape::List(_) | Shape::Map(_) | Shape::StructList(..) | Shape::StructMap(..));
        let is_set = value.get(index) != empty.as_ref().get(index);
        if is_set || (is_list && v.context.sent.is_empty_at(&path.child(field.json).to_string())) {
            // Upstream makes the name out of Go's.
            let name = if field.json == "uid" { "uID" } else { field.json };
            v.forbidden(&path.child(name), refusal);
        }
    }
}

/// `ValidatePersistentVolumeClaimSpec`
pub fn validate_claim_spec(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &PersistentVolumeClaimSpec,
    options: ClaimOptions,
) {
    let modes = path.child("accessModes");
    if spec.access_modes.is_empty() {
        v.required(&modes, "at least 1 access mode is required");
    }
    if let Some(selector) = spec.selector.as_deref() {
        let options =
            SelectorOptions { allow_invalid_values: options.allow_invalid_label_values, ..SelectorOptions::default() };
        validate_label_selector_with(v, &path.child("selector"), selector, options);
    }
    validate_access_modes(v, &modes, &spec.access_modes);
    let resources = path.child("resources");
    let storage = resources.key("storage");
    match spec.resources.requests.get("storage") {
        None => v.required(&storage, ""),
        Some(amount) => {
            if validate_positive_quantity(v, &storage, amount) {
                validate_resource_quantity(v, &storage, "storage", amount);
            }
        }
    }
    validate_class(v, &path.child("storageClassName"), spec.storage_class_name.as_deref());
    if let Some(mode) = &spec.volume_mode {
        v.one_of(&path.child("volumeMode"), mode, &VOLUME_MODES);
    }
    validate_data_sources(v, path, spec, options);
    validate_class(v, &path.child("volumeAttributesClassName"), spec.volume_attributes_class_name.as_deref());
}

pub(super) fn validate_access_modes(v: &mut Validation<'_>, path: &Path<'_>, modes: &[String]) {
    for mode in modes {
        v.one_of(path, mode, &ACCESS_MODES);
    }
    let (once, others): (Vec<&str>, Vec<&str>) = modes
        .iter()
        .map(String::as_str)
        .filter(|mode| ACCESS_MODES.contains(mode))
        .partition(|mode| *mode == "ReadWriteOncePod");
    if !once.is_empty() && !others.is_empty() {
        v.forbidden(path, "may not use ReadWriteOncePod with other access modes");
    }
}

fn validate_class(v: &mut Validation<'_>, path: &Path<'_>, name: Option<&str>) {
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        v.name(path, name, NameRule::Dns1123Subdomain);
    }
}

fn validate_data_sources(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &PersistentVolumeClaimSpec,
    options: ClaimOptions,
) {
    if let Some(source) = spec.data_source.as_deref() {
        let named = (source.api_group.as_deref(), source.kind.as_str(), source.name.as_str());
        validate_data_source(v, &path.child("dataSource"), named, options);
    }
    if let Some(source) = spec.data_source_ref.as_deref() {
        let path = path.child("dataSourceRef");
        let named = (source.api_group.as_deref(), source.kind.as_str(), source.name.as_str());
        validate_data_source(v, &path, named, options);
        if let Some(namespace) = foreign_namespace(source) {
            v.name(&path.child("namespace"), namespace, NameRule::Dns1123Label);
        }
    }
    let (Some(source), Some(reference)) = (spec.data_source.as_deref(), spec.data_source_ref.as_deref()) else {
        return;
    };
    // Upstream shows a field path as the bad value, whose fields JSON does not see.
    if foreign_namespace(reference).is_some() {
        v.invalid(path, BadValue::Json("{}".into()), "may not be specified when dataSourceRef.namespace is specified");
    } else if !is_same(source, reference) {
        v.invalid(path, BadValue::Json("{}".into()), "must match dataSourceRef");
    }
}

/// `validateDataSource`, `validateDataSourceRef`; the source as group, kind and name.
fn validate_data_source(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    (group, kind, name): (Option<&str>, &str, &str),
    options: ClaimOptions,
) {
    v.filled(&path.child("name"), name);
    v.filled(&path.child("kind"), kind);
    let group = group.unwrap_or_default();
    if group.is_empty() && kind != "PersistentVolumeClaim" {
        v.invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
    }
    if !group.is_empty() && !options.allow_invalid_api_group {
        v.malformed(&path.child("apiGroup"), group, format::is_dns1123_subdomain(group));
    }
}

fn foreign_namespace(source: &TypedObjectReference) -> Option<&str> {
    source.namespace.as_deref().filter(|namespace| !namespace.is_empty())
}

fn is_same(source: &TypedLocalObjectReference, reference: &TypedObjectReference) -> bool {
    (&source.api_group, &source.kind, &source.name) == (&reference.api_group, &reference.kind, &reference.name)
}
