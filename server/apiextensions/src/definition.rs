//! Validation of definitions: their strategy, which wraps the declared strategy.
//!
//! Validation works on upstream's internal form, which is that of v1beta1. Fields that all versions
//! share are at the top of the specification, and error paths refer to them there.

mod annotations;
mod conversion;
mod cost;
mod defaults;
pub(crate) mod field_path;
mod internal;
mod openapi;
mod spec;
mod structural;
mod visit;

use std::collections::HashMap;

use apimachinery::apiextensions::v1::{CustomResourceDefinition, JSONSchemaProps};
use apimachinery::apiextensions::v1beta1::CustomResourceDefinition as Internal;
use machinery::catalog::KindDef;
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::hooks::{Validation, WriteContext};
use machinery::reflect::{Owned, Ref};
use machinery::status::listed_errors;
use meta::validate_object_names;
use registry::{DeclaredStrategy, Strategy};

pub use structural::{check as unstructured_because, unsupported};

use crate::names::{APPROVAL, approval, is_protected};

/// The strategy of CustomResourceDefinitions.
pub struct DefinitionStrategy {
    pub declared: DeclaredStrategy,
    /// The kind in v1beta1.
    pub internal: &'static KindDef,
    /// Groups that the server serves from declarations of authors.
    pub native: Vec<&'static str>,
}

impl DefinitionStrategy {
    /// Whether a kind, in any version, is that of definitions.
    pub fn is_for(kind: &KindDef) -> bool {
        (kind.group, kind.kind) == ("apiextensions.k8s.io", "CustomResourceDefinition")
    }

    fn internal(&self, object: Ref<'_>) -> Option<Internal> {
        self.internal.from_hub(object.to_owned()).into_inner().ok()
    }

    fn check(&self, context: &WriteContext, new: Ref<'_>, old: Option<Ref<'_>>, errors: &mut Vec<FieldError>) {
        let (Some(definition), Some(new)) = (new.downcast(), self.internal(new)) else { return };
        let old = old.and_then(|old| self.internal(old));
        let v = &mut Validation::new(context, errors);
        if context.subresource == "status" {
            return spec::names(v, &new.status.accepted_names, &Path::new("status").child("acceptedNames"));
        }
        if old.is_none() {
            name(v, &new);
        }
        spec::check(v, &new, old.as_ref());
        spec::names(v, &new.status.accepted_names, &Path::new("status").child("acceptedNames"));
        stored_versions(v, &new);
        api_approval(v, &new, old.as_ref());
        preserve_unknown_fields(v, &new, old.as_ref());
        annotations::check(v, definition);
    }
}

impl Strategy for DefinitionStrategy {
    fn prepare_for_create(&self, context: &WriteContext, object: &mut Owned) {
        self.declared.prepare_for_create(context, object);
        record_stored_version(object);
    }

    fn prepare_for_update(&self, context: &WriteContext, new: &mut Owned, old: Ref<'_>) {
        self.declared.prepare_for_update(context, new, old);
        if context.subresource.is_empty() {
            record_stored_version(new);
        }
    }

    fn validate(&self, context: &WriteContext, object: Ref<'_>) -> Vec<FieldError> {
        let mut errors = self.declared.validate(context, object);
        self.check(context, object, None, &mut errors);
        errors
    }

    fn validate_update(&self, context: &WriteContext, new: Ref<'_>, old: Ref<'_>) -> Vec<FieldError> {
        let mut errors = self.declared.validate_update(context, new, old);
        self.check(context, new, Some(old), &mut errors);
        errors
    }

    fn warnings(&self, context: &WriteContext, new: Ref<'_>, old: Option<Ref<'_>>) -> Vec<String> {
        let mut warnings = self.declared.warnings(context, new, old);
        if context.subresource.is_empty() {
            let known = old.and_then(|old| old.downcast()).map_or(Vec::new(), unknown_formats);
            let formats = new.downcast().map_or(Vec::new(), unknown_formats);
            let added = formats.into_iter().filter(|format| !known.contains(format));
            warnings.extend(added.map(|format| format!("unrecognized format {format:?}")));
            warnings.extend(new.downcast().and_then(|new| served_natively(new, &self.native)));
        }
        warnings
    }

    fn grace_period(&self, requested: Option<i64>, object: Ref<'_>) -> Option<i64> {
        self.declared.grace_period(requested, object)
    }
}

/// Whether a schema is structural.
pub fn is_structural(props: &JSONSchemaProps) -> bool {
    unsupported(props).is_none() && unstructured_because(&Path::NONE, props).is_empty()
}

/// Adds the storage version to `status.storedVersions`.
fn record_stored_version(object: &mut Owned) {
    let Some(definition) = object.downcast_mut::<CustomResourceDefinition>() else { return };
    let Some(stored) = definition.spec.versions.iter().find(|version| version.storage) else { return };
    if !definition.status.stored_versions.contains(&stored.name) {
        definition.status.stored_versions.push(stored.name.clone());
    }
}

/// Returns a warning for a definition in a group that this server serves natively. Such a
/// definition is not served, and its conditions do not show that.
fn served_natively(definition: &CustomResourceDefinition, native: &[&str]) -> Option<String> {
    let group = definition.spec.group.as_str();
    native.contains(&group).then(|| {
        format!(
            "group {group:?} is declared in this server, which serves its declaration: this definition has no effect"
        )
    })
}

fn unknown_formats(definition: &CustomResourceDefinition) -> Vec<String> {
    let mut formats = Vec::new();
    let schemas = definition.spec.versions.iter().filter_map(|version| version.schema.as_ref());
    for props in schemas.filter_map(|schema| schema.open_api_v3_schema.as_deref()) {
        visit::each(props, &mut |props| {
            let format = props.format.as_str();
            if !format.is_empty() && !schema::is_format_of_type(format, &props.r#type) {
                formats.push(format.to_owned());
            }
        });
    }
    formats
}

/// Checks the part of `nameValidationFn` that is specific to definitions. As upstream, a
/// `generateName` must equal the whole expected name.
fn name(v: &mut Validation<'_>, definition: &Internal) {
    let wanted = format!("{}.{}", definition.spec.names.plural, definition.spec.group);
    let refusal = || r#"must be spec.names.plural+"."+spec.group"#.into();
    let rule = |name: &str, _| (name != wanted).then(refusal).into_iter().collect();
    validate_object_names(v, &Path::new("metadata"), &definition.metadata, 0, rule);
}

/// `ValidateCustomResourceDefinitionStoredVersions`
fn stored_versions(v: &mut Validation<'_>, definition: &Internal) {
    let (status, stored) = (Path::new("status"), &definition.status.stored_versions);
    let path = status.child("storedVersions");
    let shown = || BadValue::strings(stored);
    if stored.is_empty() {
        return v.invalid(&path, shown(), "must have at least one stored version");
    }
    // As upstream, a duplicate version is found once, and a duplicate stored version is missed
    // once.
    let mut left: HashMap<&String, usize> = stored.iter().enumerate().map(|(index, name)| (name, index)).collect();
    // Each error contains the whole list.
    let mut errors_left = listed_errors(stored.iter().map(String::len).sum());
    for version in &definition.spec.versions {
        if left.remove(&version.name).is_none() && version.storage && errors_left > 0 {
            v.invalid(&path, shown(), format!("must have the storage version {}", version.name));
            errors_left -= 1;
        }
    }
    for (index, name) in stored.iter().enumerate() {
        if left.get(name) == Some(&index) {
            let why = format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
            );
            v.invalid(&path.index(index), name, why);
        }
    }
}

/// `validateAPIApproval`
fn api_approval(v: &mut Validation<'_>, new: &Internal, old: Option<&Internal>) {
    if !is_protected(&new.spec.group) {
        return;
    }
    let annotation_of =
        |definition: &Internal| definition.metadata.annotations.get(APPROVAL).cloned().unwrap_or_default();
    let annotation = annotation_of(new);
    let (state, _, why) = approval(&annotation);
    if old.is_some_and(|old| approval(&annotation_of(old)).0 == state) {
        return;
    }
    let metadata = Path::new("metadata");
    let annotations = metadata.child("annotations");
    let path = annotations.key(APPROVAL);
    match state {
        "MissingAnnotation" => v.required(&path, why),
        "InvalidAnnotation" => v.invalid(&path, &annotation, why),
        _ => {}
    }
}

/// `validatePreserveUnknownFields`
fn preserve_unknown_fields(v: &mut Validation<'_>, new: &Internal, old: Option<&Internal>) {
    let preserves = |definition: &Internal| definition.spec.preserve_unknown_fields == Some(true);
    if preserves(new) && !old.is_some_and(preserves) {
        let spec = Path::new("spec");
        let why =
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        v.invalid(&spec.child("preserveUnknownFields"), true, why);
    }
}

#[cfg(test)]
mod tests;
