//! Persistent volumes and claims begin pending; a claim's two spellings of its data source agree.

use machinery::hooks::Context;

use crate::core::v1::{
    PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimSpec, TypedLocalObjectReference, TypedObjectReference,
};

const PENDING: &str = "Pending";

/// Mirrors `persistentvolumeStrategy.PrepareForCreate`.
pub fn create_volume(context: &Context, volume: &mut PersistentVolume, _: &PersistentVolume) {
    volume.status.phase = PENDING.into();
    volume.status.last_phase_transition_time = Some(context.now);
}

/// Mirrors `persistentvolumeclaimStrategy.PrepareForCreate`.
pub fn create_claim(_: &Context, claim: &mut PersistentVolumeClaim, _: &PersistentVolumeClaim) {
    claim.status.phase = PENDING.into();
    agree(&mut claim.spec);
}

/// Mirrors `persistentvolumeclaimStrategy.PrepareForUpdate`.
pub fn update_claim(_: &Context, claim: &mut PersistentVolumeClaim, _: &PersistentVolumeClaim) {
    agree(&mut claim.spec);
}

/// `NormalizeDataSources`
fn agree(spec: &mut PersistentVolumeClaimSpec) {
    match (&spec.data_source, &spec.data_source_ref) {
        (Some(source), None) => {
            let TypedLocalObjectReference { api_group, kind, name } = (**source).clone();
            spec.data_source_ref = Some(Box::new(TypedObjectReference { api_group, kind, name, namespace: None }));
        }
        (None, Some(source)) if source.namespace.as_deref().unwrap_or("").is_empty() => {
            let TypedObjectReference { api_group, kind, name, .. } = (**source).clone();
            spec.data_source = Some(Box::new(TypedLocalObjectReference { api_group, kind, name }));
        }
        _ => {}
    }
}
