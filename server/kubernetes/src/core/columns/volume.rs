//! Columns of persistent volumes and claims.

use std::collections::BTreeMap;

use machinery::print::{Cell, PrintContext};

use generated::core::v1::{PersistentVolume, PersistentVolumeClaim, persistent_volume_access_mode, resource_name};

/// Annotation for the class that predates the field; it takes precedence.
const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";

/// Access modes and their short forms, in display order.
const ACCESS_MODES: [(&str, &str); 4] = [
    (persistent_volume_access_mode::READ_WRITE_ONCE, "RWO"),
    (persistent_volume_access_mode::READ_ONLY_MANY, "ROX"),
    (persistent_volume_access_mode::READ_WRITE_MANY, "RWX"),
    (persistent_volume_access_mode::READ_WRITE_ONCE_POD, "RWOP"),
];

pub fn persistent_volume_access_modes(volume: &PersistentVolume, _: &PrintContext) -> Cell {
    access_modes(&volume.spec.access_modes)
}

pub fn persistent_volume_claim(volume: &PersistentVolume, _: &PrintContext) -> Cell {
    volume.spec.claim_ref.as_ref().map_or("".into(), |claim| format!("{}/{}", claim.namespace, claim.name).into())
}

pub fn persistent_volume_claim_access_modes(claim: &PersistentVolumeClaim, _: &PrintContext) -> Cell {
    if is_bound(claim) { access_modes(&claim.status.access_modes) } else { "".into() }
}

pub fn persistent_volume_claim_capacity(claim: &PersistentVolumeClaim, _: &PrintContext) -> Cell {
    if !is_bound(claim) {
        return "".into();
    }
    claim.status.capacity.get(resource_name::STORAGE).map_or("0".into(), ToString::to_string).into()
}

pub fn persistent_volume_claim_status(claim: &PersistentVolumeClaim, _: &PrintContext) -> Cell {
    phase(claim.metadata.deletion_timestamp.is_some(), &claim.status.phase)
}

pub fn persistent_volume_claim_storage_class(claim: &PersistentVolumeClaim, _: &PrintContext) -> Cell {
    class(&claim.metadata.annotations, claim.spec.storage_class_name.as_deref().unwrap_or_default())
}

pub fn persistent_volume_status(volume: &PersistentVolume, _: &PrintContext) -> Cell {
    phase(volume.metadata.deletion_timestamp.is_some(), &volume.status.phase)
}

pub fn persistent_volume_storage_class(volume: &PersistentVolume, _: &PrintContext) -> Cell {
    class(&volume.metadata.annotations, &volume.spec.storage_class_name)
}

fn is_bound(claim: &PersistentVolumeClaim) -> bool {
    !claim.spec.volume_name.is_empty()
}

fn access_modes(modes: &[String]) -> Cell {
    let shown = ACCESS_MODES.iter().filter(|(mode, _)| modes.iter().any(|m| m == mode));
    shown.map(|(_, short)| *short).collect::<Vec<_>>().join(",").into()
}

fn phase(is_deleted: bool, phase: &str) -> Cell {
    if is_deleted { "Terminating" } else { phase }.into()
}

fn class(annotations: &BTreeMap<String, String>, field: &str) -> Cell {
    annotations.get(CLASS_ANNOTATION).map_or(field, String::as_str).into()
}
