//! Persistent volumes and claims begin pending; a claim's two spellings of its data source agree.

use generated::core::v1::{
    PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimSpec, TypedLocalObjectReference, TypedObjectReference,
};
use machinery::reflect::{Owned, Ref};
use registry::{Clock, Context, SystemClock, meta_mut};

const PENDING: &str = "Pending";

/// Mirrors `persistentvolumeStrategy.PrepareForCreate`.
pub fn create_volume(_: &Context, object: &mut Owned, _: Ref<'_>) {
    let Some(volume) = object.downcast_mut::<PersistentVolume>() else { return };
    volume.status.phase = PENDING.into();
    volume.status.last_phase_transition_time = Some(SystemClock.now());
}

/// Mirrors `persistentvolumeclaimStrategy.PrepareForCreate`.
pub fn create_claim(_: &Context, object: &mut Owned, _: Ref<'_>) {
    let Some(claim) = object.downcast_mut::<PersistentVolumeClaim>() else { return };
    claim.status.phase = PENDING.into();
    agree(&mut claim.spec);
}

/// Mirrors `persistentvolumeclaimStrategy.PrepareForUpdate`.
pub fn update_claim(_: &Context, new: &mut Owned, _: Ref<'_>) {
    if let Some(claim) = new.downcast_mut::<PersistentVolumeClaim>() {
        agree(&mut claim.spec);
    }
}

/// Changes of a driver are counted, its beginning is not (`csiDriverStrategy`).
pub fn create_driver(_: &Context, object: &mut Owned, _: Ref<'_>) {
    if let Some(meta) = meta_mut(object) {
        meta.generation = 0;
    }
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
