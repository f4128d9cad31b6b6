//! Hand-written validation of persistent volumes.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::reflect::Ref;

use crate::core::internal::{internal_diff, internal_value};
use generated::core::v1::{NodeSelectorRequirement, PersistentVolumeSpec, VolumeNodeAffinity};

/// Renamed node labels; a selector may change to the new name.
const RENAMED_LABELS: [(&str, &str); 5] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("beta.kubernetes.io/os", "kubernetes.io/os"),
    ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
    ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
];

type Spec = PersistentVolumeSpec;

/// Rejects the recycle policy for the root of a node's file system. Hand-written, because paths are
/// cleaned as in Go.
pub fn validate_recycled_root(v: &mut Validation<'_>, path: &Path<'_>, spec: &Spec, _: Option<&Spec>) {
    let host_path = spec.persistent_volume_source.host_path.as_deref().map_or("", |host_path| &host_path.path);
    let depth = host_path.split('/').fold(0usize, |depth, part| match part {
        "" | "." => depth,
        ".." => depth.saturating_sub(1),
        _ => depth + 1,
    });
    if host_path.starts_with('/') && depth == 0 {
        let detail = "may not be 'recycle' for a hostPath mount of '/'";
        v.forbidden(&path.child(json_name!(PersistentVolumeSpec.persistent_volume_reclaim_policy)), detail);
    }
}

/// Checks that the source is unchanged, except that a CSI source may get a missing secret for expanding
/// the volume. Hand-written, because the message shows the difference.
pub fn validate_source_change(v: &mut Validation<'_>, path: &Path<'_>, new: &Spec, old: Option<&Spec>) {
    let Some(before) = old.map(|old| &old.persistent_volume_source) else { return };
    let mut source = new.persistent_volume_source.clone();
    if let (Some(csi), Some(before)) = (&mut source.csi, &before.csi)
        && before.controller_expand_secret_ref.is_none()
    {
        csi.controller_expand_secret_ref = None;
    }
    if Ref::of(&source) != Ref::of(before) {
        let changes = internal_diff(&v.context.sent, path, before, &source);
        let detail = format!("spec.persistentvolumesource is immutable after creation\n{changes}");
        v.forbidden(&path.child("persistentvolumesource"), detail);
    }
}

/// `validatePvNodeAffinity`. Hand-written, because labels may change to their new names.
pub fn validate_affinity_change(v: &mut Validation<'_>, _: &Path<'_>, new: &Spec, old: Option<&Spec>) {
    let (Some(before), now) = (old.and_then(|old| old.node_affinity.as_deref()), new.node_affinity.as_deref()) else {
        return;
    };
    if !now.is_some_and(|now| is_renamed(now, before)) {
        let detail = "field is immutable, except for updating from beta label to GA";
        v.invalid(
            &Path::new(json_name!(PersistentVolumeSpec.node_affinity)),
            now.map_or(BadValue::None, internal_value),
            detail,
        );
    }
}

/// Whether only renamed labels changed.
fn is_renamed(new: &VolumeNodeAffinity, old: &VolumeNodeAffinity) -> bool {
    let (mut expected, mut new) = (old.clone(), new.clone());
    for (before, now) in requirements(&mut expected).zip(requirements(&mut new)) {
        let renamed = RENAMED_LABELS.iter().find(|(old, _)| *old == before.key).map_or("", |(_, new)| new);
        // Upstream accepts an empty new key, which is rejected elsewhere, as the new name of any other
        // key.
        if renamed == now.key {
            before.key.clone_from(&now.key);
        }
    }
    Ref::of(&expected) == Ref::of(&new)
}

fn requirements(affinity: &mut VolumeNodeAffinity) -> impl Iterator<Item = &mut NodeSelectorRequirement> {
    let terms = affinity.required.iter_mut().flat_map(|selector| &mut selector.node_selector_terms);
    terms.flat_map(|term| term.match_expressions.iter_mut().chain(&mut term.match_fields))
}
