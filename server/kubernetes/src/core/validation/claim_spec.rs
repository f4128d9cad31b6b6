//! What a volume is asked to be: the spec of claims, and of the templates of claims.

use machinery::def::Shape;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::options;
use machinery::reflect::{Owned, Ref, Struct};

use super::resources::{validate_positive_quantity, validate_resource_quantity};
use generated::core::v1::{
    PersistentVolumeClaimSpec, PersistentVolumeClaimTemplate, TypedLocalObjectReference, TypedObjectReference,
};
use generated::meta::v1::{LabelSelector, ObjectMeta};
use meta::{SelectorOptions, validate_annotations, validate_label_selector_with, validate_labels};

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
    validate_template_meta(v, &path.child("metadata"), &template.metadata, None);
    validate_claim_spec(v, &path.child("spec"), &template.spec, options);
}

/// Metadata of which only labels and annotations are used (`ValidateTemplateObjectMeta`).
pub fn validate_template_meta(v: &mut Validation<'_>, path: &Path<'_>, meta: &ObjectMeta, _: Option<&ObjectMeta>) {
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
    v.set_option(options::ANY_VALUES_OF_CLAIMS, options.allow_invalid_label_values);
    v.set_option(options::ANY_API_GROUP, options.allow_invalid_api_group);
    v.checks(path, Ref::of(spec), None);
}

/// By hand: what selectors may hold is an option.
pub fn validate_claim_selector(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    selector: &LabelSelector,
    _: Option<&LabelSelector>,
) {
    let allow_invalid_values = v.has_option(options::ANY_VALUES_OF_CLAIMS);
    let options = SelectorOptions { allow_invalid_values, ..SelectorOptions::default() };
    validate_label_selector_with(v, path, selector, options);
}

/// By hand: one entry of a map is looked at, in another place.
pub fn validate_claimed_size(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &PersistentVolumeClaimSpec,
    _: Option<&PersistentVolumeClaimSpec>,
) {
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
}

/// By hand: two fields say the same.
pub fn validate_data_sources(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &PersistentVolumeClaimSpec,
    _: Option<&PersistentVolumeClaimSpec>,
) {
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

fn foreign_namespace(source: &TypedObjectReference) -> Option<&str> {
    source.namespace.as_deref().filter(|namespace| !namespace.is_empty())
}

fn is_same(source: &TypedLocalObjectReference, reference: &TypedObjectReference) -> bool {
    (&source.api_group, &source.kind, &source.name) == (&reference.api_group, &reference.kind, &reference.name)
}
