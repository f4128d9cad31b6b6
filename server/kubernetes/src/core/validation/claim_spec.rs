//! Validation of the spec of claims and of claim templates.

use machinery::def::Shape;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::options;
use machinery::reflect::{Owned, Ref, Struct};

use generated::core::v1::{PersistentVolumeClaimSpec, PersistentVolumeClaimTemplate};
use generated::meta::v1::ObjectMeta;
use meta::{validate_annotations, validate_labels};

type Spec = PersistentVolumeClaimSpec;

/// Invalid values that stored claims may keep (`PersistentVolumeClaimSpecValidationOptions`).
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
    validate_template_meta(
        v,
        &path.child(json_name!(PersistentVolumeClaimTemplate.metadata)),
        &template.metadata,
        None,
    );
    validate_claim_spec(v, &path.child(json_name!(PersistentVolumeClaimTemplate.spec)), &template.spec, options);
}

/// Validates metadata of which only labels and annotations are used (`ValidateTemplateObjectMeta`).
pub fn validate_template_meta(v: &mut Validation<'_>, path: &Path<'_>, meta: &ObjectMeta, _: Option<&ObjectMeta>) {
    validate_annotations(v, &path.child(json_name!(ObjectMeta.annotations)), &meta.annotations);
    validate_labels(v, &path.child(json_name!(ObjectMeta.labels)), &meta.labels);
    refuse_fields(v, path, meta, &["annotations", "labels"], "cannot be set");
}

/// Rejects every field that is set and not in `allowed`, by JSON name (`validateFieldAllowList`). As
/// upstream, an empty list or map in the request counts as set.
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
            // Upstream derives the name from Go's.
            let name = if field.json == "uid" { "uID" } else { field.json };
            v.forbidden(&path.child(name), refusal);
        }
    }
}

/// `ValidatePersistentVolumeClaimSpec`
pub fn validate_claim_spec(v: &mut Validation<'_>, path: &Path<'_>, spec: &Spec, options: ClaimOptions) {
    v.set_option(options::ANY_VALUES_OF_CLAIMS, options.allow_invalid_label_values);
    v.set_option(options::ANY_API_GROUP, options.allow_invalid_api_group);
    v.checks(path, Ref::of(spec), None);
}

/// Checks that both references refer to the same object. Hand-written, because upstream shows a field
/// path as the invalid value, whose fields are not visible in JSON.
pub fn validate_data_sources(v: &mut Validation<'_>, path: &Path<'_>, spec: &Spec, _: Option<&Spec>) {
    let (Some(source), Some(reference)) = (&spec.data_source, &spec.data_source_ref) else { return };
    let is_same =
        (&source.api_group, &source.kind, &source.name) == (&reference.api_group, &reference.kind, &reference.name);
    let detail = match reference.namespace.as_deref() {
        None | Some("") if is_same => return,
        None | Some("") => "must match dataSourceRef",
        Some(_) => "may not be specified when dataSourceRef.namespace is specified",
    };
    v.invalid(path, BadValue::Json("{}".into()), detail);
}
