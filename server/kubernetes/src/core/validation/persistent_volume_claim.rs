//! Persistent volume claims. By hand: the whole spec is compared with what is stored, except for what may change.

use std::collections::BTreeMap;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::is_qualified_name;
use machinery::hooks::Validation;
use machinery::reflect::Ref;
use machinery::scalar::Quantity;

use super::claim_spec::{ClaimOptions, validate_claim_spec};
use super::resources::{is_native_resource, validate_resource_quantity};
use crate::core::internal::internal_diff;
use generated::core::v1::{
    PersistentVolumeClaim, PersistentVolumeClaimSpec, PersistentVolumeClaimStatus, persistent_volume_claim_phase,
};
use meta::{SelectorOptions, validate_label_selector_with};

const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
const STORAGE: &str = "storage";
const RESIZE_STATUSES: [&str; 5] = [
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
];

type Annotations = BTreeMap<String, String>;

/// `ValidatePersistentVolumeClaim`, `ValidatePersistentVolumeClaimUpdate`, `ValidatePersistentVolumeClaimStatusUpdate`
pub fn validate_persistent_volume_claim(
    v: &mut Validation<'_>,
    _: &Path<'_>,
    new: &PersistentVolumeClaim,
    old: Option<&PersistentVolumeClaim>,
) {
    let path = Path::new("spec");
    if v.context.subresource == "status" {
        return validate_status(v, new);
    }
    let options = old.map_or_else(ClaimOptions::default, |old| options(v, &old.spec));
    validate_claim_spec(v, &path, &new.spec, options);
    if let Some(old) = old {
        validate_change(v, &path, new, old);
    }
}

/// `ValidationOptionsForPersistentVolumeClaim`
fn options(v: &Validation<'_>, old: &PersistentVolumeClaimSpec) -> ClaimOptions {
    let mut errors = Vec::new();
    let mut probe = Validation::new(v.context, &mut errors);
    if let Some(selector) = old.selector.as_deref() {
        validate_label_selector_with(&mut probe, &Path::NONE, selector, SelectorOptions::default());
    }
    let source = old.data_source.as_deref().is_some_and(|source| source.api_group.is_some());
    let reference = old.data_source_ref.as_deref().is_some_and(|source| source.api_group.is_some());
    ClaimOptions { allow_invalid_label_values: !errors.is_empty(), allow_invalid_api_group: source || reference }
}

fn validate_change(v: &mut Validation<'_>, path: &Path<'_>, new: &PersistentVolumeClaim, old: &PersistentVolumeClaim) {
    let (mut after, mut before) = (new.spec.clone(), old.spec.clone());
    if before.volume_name.is_empty() {
        before.volume_name.clone_from(&after.volume_name);
    }
    validate_class_change(v, new, old, &mut after);
    // A claim that has its volume may grow, and change how that behaves.
    if new.status.phase == persistent_volume_claim_phase::BOUND {
        if !after.resources.requests.is_empty() {
            let size = before.resources.requests.get(STORAGE).cloned().unwrap_or_default();
            after.resources.requests.insert(STORAGE.to_owned(), size);
        }
        after.volume_attributes_class_name.clone_from(&before.volume_attributes_class_name);
    }
    if Ref::of(&after) != Ref::of(&before) {
        let changes = internal_diff(&v.context.sent, path, &before, &after);
        let detail = format!(
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n{changes}"
        );
        v.forbidden(path, detail);
    }
    validate_size_change(v, &path.child("resources").child("requests").child(STORAGE), new, old);
    v.checks_of("change", path, Ref::of(&new.spec), Some(Ref::of(&old.spec)));
    validate_attributes_class_change(v, &path.child("volumeAttributesClassName"), new, old);
}

/// The class may move from its annotation to its field, and be said later; `after` is made to look as if it did not change then.
fn validate_class_change(
    v: &mut Validation<'_>,
    new: &PersistentVolumeClaim,
    old: &PersistentVolumeClaim,
    after: &mut PersistentVolumeClaimSpec,
) {
    let annotated = |annotations: &Annotations| annotations.get(BETA_CLASS).cloned();
    let (before, now) = (annotated(&old.metadata.annotations), annotated(&new.metadata.annotations));
    let class = new.spec.storage_class_name.as_ref();
    let unset = old.spec.storage_class_name.is_none();
    let moved = unset && before.is_some() && class == before.as_ref() && (now.is_none() || now == before);
    if !moved && now.clone().unwrap_or_default() != before.clone().unwrap_or_default() {
        let path = Path::new("metadata");
        let path = path.child("annotations");
        v.invalid(&path.child(BETA_CLASS), now.unwrap_or_default(), "field is immutable");
    }
    if moved || unset && class.is_some() && (before.is_none() || class == before.as_ref()) {
        after.storage_class_name = None;
    }
}

/// A claim shrinks only while it grows: to recover from growth that failed.
fn validate_size_change(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PersistentVolumeClaim,
    old: &PersistentVolumeClaim,
) {
    let size = |amounts: &BTreeMap<String, Quantity>| amounts.get(STORAGE).cloned().unwrap_or_default();
    let (asked, before) = (size(&new.spec.resources.requests), size(&old.spec.resources.requests));
    if asked < before && asked <= size(&old.status.capacity) {
        v.forbidden(path, "field can not be less than status.capacity");
    }
}

fn validate_attributes_class_change(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PersistentVolumeClaim,
    old: &PersistentVolumeClaim,
) {
    let class = &new.spec.volume_attributes_class_name;
    if *class == old.spec.volume_attributes_class_name || old.status.current_volume_attributes_class_name.is_none() {
        return;
    }
    match class.as_deref() {
        None => v.forbidden(path, "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil"),
        Some("") => {
            let detail = "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil";
            v.forbidden(path, detail);
        }
        Some(_) => {}
    }
}

fn validate_status(v: &mut Validation<'_>, claim: &PersistentVolumeClaim) {
    if claim.spec.access_modes.is_empty() {
        v.required(&Path::new("Spec").child("accessModes"), "");
    }
    let (path, status) = (Path::new("status"), &claim.status);
    let capacity = path.child("capacity");
    for (name, amount) in &status.capacity {
        validate_amount(v, &capacity.key(name), amount);
    }
    validate_resize_statuses(v, &path.child("allocatedResourceStatuses"), status);
    let allocated = path.child("allocatedResources");
    for (name, amount) in &status.allocated_resources {
        let valid = validate_key(v, &allocated, name);
        if valid && validate_amount(v, &allocated.key(name), amount) {
            validate_resource_quantity(v, &allocated.key(name), STORAGE, amount);
        }
    }
}

fn validate_resize_statuses(v: &mut Validation<'_>, path: &Path<'_>, status: &PersistentVolumeClaimStatus) {
    let mut known = RESIZE_STATUSES;
    known.sort_unstable();
    for (name, resize) in &status.allocated_resource_statuses {
        validate_key(v, path, name);
        if !known.contains(&resize.as_str()) {
            // Upstream shows the resource, not its status.
            v.not_supported(path, BadValue::json_string(name), &known);
        }
    }
}

/// `validateBasicResource`; tells whether it is one.
fn validate_amount(v: &mut Validation<'_>, path: &Path<'_>, amount: &Quantity) -> bool {
    if amount.value() < 0 {
        v.invalid(path, amount.value(), "must be a valid resource quantity");
    }
    amount.value() >= 0
}

/// `validatePersistentVolumeClaimResourceKey`; tells whether it is one.
fn validate_key(v: &mut Validation<'_>, path: &Path<'_>, name: &str) -> bool {
    let before = v.errors.len();
    v.malformed(path, name, is_qualified_name(name));
    if v.errors.len() == before && is_native_resource(name) && name != STORAGE {
        v.not_supported(path, name, &[STORAGE]);
    }
    v.errors.len() == before
}
