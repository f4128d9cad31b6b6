//! Hand-written validation of persistent volume claims.

use std::collections::BTreeMap;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::field::claim_resource_name;
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::reflect::Ref;
use machinery::scalar::Quantity;

use crate::core::internal::internal_diff;
use apimachinery::meta::v1::ObjectMeta;
use generated::core::v1::{
    PersistentVolumeClaim, PersistentVolumeClaimSpec, PersistentVolumeClaimStatus, VolumeResourceRequirements,
    claim_resource_status, persistent_volume_claim_phase, resource_name,
};

const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
const STORAGE: &str = resource_name::STORAGE;
const IMMUTABLE: &str =
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
const RESIZE_STATUSES: [&str; 5] = [
    claim_resource_status::CONTROLLER_RESIZE_IN_PROGRESS,
    claim_resource_status::CONTROLLER_RESIZE_INFEASIBLE,
    claim_resource_status::NODE_RESIZE_IN_PROGRESS,
    claim_resource_status::NODE_RESIZE_INFEASIBLE,
    claim_resource_status::NODE_RESIZE_PENDING,
];

type Claim = PersistentVolumeClaim;
type Status = PersistentVolumeClaimStatus;

/// `ValidatePersistentVolumeClaimUpdate`. Hand-written, because the whole spec is compared with the
/// stored one, except for mutable fields, and the message shows the difference.
pub fn validate_claim_change(v: &mut Validation<'_>, path: &Path<'_>, new: &Claim, old: Option<&Claim>) {
    let (Some(old), path) = (old, &path.child(json_name!(PersistentVolumeClaim.spec))) else { return };
    let (mut after, mut before) = (new.spec.clone(), old.spec.clone());
    if before.volume_name.is_empty() {
        before.volume_name.clone_from(&after.volume_name);
    }
    validate_class_change(v, new, old, &mut after);
    let size = |amounts: &BTreeMap<String, Quantity>| amounts.get(STORAGE).cloned().unwrap_or_default();
    let (requested, stored) = (size(&new.spec.resources.requests), size(&old.spec.resources.requests));
    // A bound claim may grow, and change its volume attributes class.
    if new.status.phase == persistent_volume_claim_phase::BOUND {
        // As upstream, an empty map in the request counts as present.
        if !after.resources.requests.is_empty() || v.context.sent.is_empty_at("spec.resources.requests") {
            after.resources.requests.insert(STORAGE.to_owned(), stored.clone());
        }
        after.volume_attributes_class_name.clone_from(&before.volume_attributes_class_name);
    }
    if Ref::of(&after) != Ref::of(&before) {
        let changes = internal_diff(&v.context.sent, path, &before, &after);
        v.forbidden(path, format!("{IMMUTABLE}\n{changes}"));
    }
    // A request may shrink only to recover from a failed expansion.
    if requested < stored && requested <= size(&old.status.capacity) {
        let detail = "field can not be less than status.capacity";
        v.forbidden(
            &path
                .child(json_name!(PersistentVolumeClaimSpec.resources))
                .child(json_name!(VolumeResourceRequirements.requests))
                .child(STORAGE),
            detail,
        );
    }
}

/// Checks changes of the class, which may move from the annotation to the field, or be set later.
/// Resets accepted changes in `after`.
fn validate_class_change(v: &mut Validation<'_>, new: &Claim, old: &Claim, after: &mut PersistentVolumeClaimSpec) {
    let (before, now) = (old.metadata.annotations.get(BETA_CLASS), new.metadata.annotations.get(BETA_CLASS));
    let class = new.spec.storage_class_name.as_ref();
    let unset = old.spec.storage_class_name.is_none();
    let moved = unset && before.is_some() && class == before && (now.is_none() || now == before);
    let now = now.cloned().unwrap_or_default();
    if !moved && now != before.cloned().unwrap_or_default() {
        let path = Path::new(json_name!(PersistentVolumeClaim.metadata));
        v.invalid(&path.child(json_name!(ObjectMeta.annotations)).child(BETA_CLASS), now, "field is immutable");
    }
    if moved || unset && class.is_some() && (before.is_none() || class == before) {
        after.storage_class_name = None;
    }
}

/// Validates resize statuses. Hand-written, because messages show the resource, not its status.
pub fn validate_resize_statuses(v: &mut Validation<'_>, path: &Path<'_>, status: &Status, _: Option<&Status>) {
    let path = path.child(json_name!(PersistentVolumeClaimStatus.allocated_resource_statuses));
    for (name, resize) in &status.allocated_resource_statuses {
        v.errors.extend(claim_resource_name(&path, name));
        if !RESIZE_STATUSES.contains(&resize.as_str()) {
            v.not_supported(&path, BadValue::json_string(name), &RESIZE_STATUSES);
        }
    }
}
