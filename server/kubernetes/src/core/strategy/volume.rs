//! Strategy of persistent volumes.

use machinery::field_path::Path;
use machinery::hooks::WriteContext;
use machinery::json_name;

use crate::core::warnings::node_labels::warnings_of_term;
use generated::core::v1::{
    NodeSelector, PersistentVolume, PersistentVolumeSpec, VolumeNodeAffinity, persistent_volume_phase,
    persistent_volume_reclaim_policy,
};

const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
const MOUNT_OPTIONS: &str = "volume.beta.kubernetes.io/mount-options";

/// Mirrors `persistentvolumeStrategy.PrepareForCreate`.
pub fn create_volume(context: &WriteContext, volume: &mut PersistentVolume, _: Option<&PersistentVolume>) {
    volume.status.phase = persistent_volume_phase::PENDING.into();
    volume.status.last_phase_transition_time = Some(context.now);
}

/// Sets the transition time to now if the phase changes and the request has no new time; keeps the time
/// if the phase is unchanged.
pub fn update_volume(context: &WriteContext, new: &mut PersistentVolume, old: &PersistentVolume) {
    let requested = new.status.last_phase_transition_time;
    let stale = requested.is_none() || requested == old.status.last_phase_transition_time;
    match new.status.phase == old.status.phase {
        true if requested.is_none() => new.status.last_phase_transition_time = old.status.last_phase_transition_time,
        false if stale => new.status.last_phase_transition_time = Some(context.now),
        _ => {}
    }
}

/// Mirrors `persistentvolume.GetWarningsForPersistentVolume`.
pub fn warn_volume(context: &WriteContext, volume: &PersistentVolume, _: Option<&PersistentVolume>) -> Vec<String> {
    if context.subresource == "status" {
        return Vec::new();
    }
    let (spec, mut out) = (&volume.spec, Vec::new());
    for (key, instead) in [
        (BETA_CLASS, "deprecated since v1.8; use \"storageClassName\" attribute instead"),
        (MOUNT_OPTIONS, "deprecated since v1.31; use \"mountOptions\" attribute instead"),
    ] {
        if volume.metadata.annotations.contains_key(key) {
            out.push(format!("metadata.annotations[{key}]: {instead}"));
        }
    }
    if spec.persistent_volume_reclaim_policy == persistent_volume_reclaim_policy::RECYCLE {
        out.push(
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended \
             approach is to use dynamic provisioning."
                .into(),
        );
    }
    let path = Path::new(json_name!(PersistentVolume.spec));
    if let Some(selector) = spec.node_affinity.as_deref().and_then(|affinity| affinity.required.as_deref()) {
        let terms = path.child(json_name!(PersistentVolumeSpec.node_affinity));
        let terms = terms.child(json_name!(VolumeNodeAffinity.required));
        let terms = terms.child(json_name!(NodeSelector.node_selector_terms));
        for (index, term) in selector.node_selector_terms.iter().enumerate() {
            out.extend(warnings_of_term(&terms.index(index), term, false));
        }
    }
    out.extend(warn_source(volume));
    out
}

/// Warnings about sources that are no longer supported.
fn warn_source(volume: &PersistentVolume) -> Option<String> {
    let source = &volume.spec.persistent_volume_source;
    let (name, since, gone) = if source.cephfs.is_some() {
        ("cephfs", "1.28", "1.31")
    } else if source.photon_persistent_disk.is_some() {
        ("photonPersistentDisk", "1.11", "1.16")
    } else if source.rbd.is_some() {
        ("rbd", "1.28", "1.31")
    } else if source.scale_io.is_some() {
        ("scaleIO", "1.16", "1.22")
    } else if source.storageos.is_some() {
        ("storageOS", "1.22", "1.25")
    } else if source.glusterfs.is_some() {
        ("glusterfs", "1.25", "1.26")
    } else {
        return None;
    };
    Some(format!("spec.{name}: deprecated in v{since}, non-functional in v{gone}+"))
}
