//! Warnings about volumes of types that are no longer supported.

use std::collections::BTreeMap;

use machinery::field_path::Path;
use machinery::json_name;
use machinery::scalar::Quantity;

use generated::core::v1::{
    EphemeralVolumeSource, PersistentVolumeClaimSpec, PersistentVolumeClaimTemplate, Volume,
    VolumeResourceRequirements, VolumeSource, resource_name,
};

/// Warnings about the volumes at `path`.
pub(super) fn warn(path: &Path<'_>, volumes: &[Volume], git_repo_driver: bool, out: &mut Vec<String>) {
    let git_repo =
        if git_repo_driver { "deprecated in v1.11" } else { "deprecated in v1.11, and disabled by default in v1.33+" };
    for (index, volume) in volumes.iter().enumerate() {
        let (path, v) = (path.index(index), &volume.volume_source);
        let mut say = |field: &str, there: bool, what: &str| {
            out.extend(there.then(|| format!("{}: {what}", path.child(field))));
        };
        say(
            "photonPersistentDisk",
            v.photon_persistent_disk.is_some(),
            "deprecated in v1.11, non-functional in v1.16+",
        );
        say("gitRepo", v.git_repo.is_some(), git_repo);
        say("scaleIO", v.scale_io.is_some(), "deprecated in v1.16, non-functional in v1.22+");
        say("flocker", v.flocker.is_some(), "deprecated in v1.22, non-functional in v1.25+");
        say("storageOS", v.storageos.is_some(), "deprecated in v1.22, non-functional in v1.25+");
        say("quobyte", v.quobyte.is_some(), "deprecated in v1.22, non-functional in v1.25+");
        say("glusterfs", v.glusterfs.is_some(), "deprecated in v1.25, non-functional in v1.26+");
        if let Some(template) = v.ephemeral.as_deref().and_then(|e| e.volume_claim_template.as_deref()) {
            let path = path.child(json_name!(VolumeSource.ephemeral));
            let path = path.child(json_name!(EphemeralVolumeSource.volume_claim_template));
            warn_of_claim(&path.child(json_name!(PersistentVolumeClaimTemplate.spec)), &template.spec, out);
        }
        let mut say = |field: &str, there: bool| {
            let what = "deprecated in v1.28, non-functional in v1.31+";
            out.extend(there.then(|| format!("{}: {what}", path.child(field))));
        };
        say("cephfs", v.cephfs.is_some());
        say("rbd", v.rbd.is_some());
    }
}

/// Warnings about the spec of a claim (`GetWarningsForPersistentVolumeClaimSpec`).
pub(crate) fn warn_of_claim(path: &Path<'_>, spec: &PersistentVolumeClaimSpec, out: &mut Vec<String>) {
    let path = path.child(json_name!(PersistentVolumeClaimSpec.resources));
    warn_of_fraction(
        &path.child(json_name!(VolumeResourceRequirements.requests)),
        &spec.resources.requests,
        resource_name::STORAGE,
        out,
    );
    warn_of_fraction(
        &path.child(json_name!(VolumeResourceRequirements.limits)),
        &spec.resources.limits,
        resource_name::STORAGE,
        out,
    );
}

/// Warning about a fractional number of bytes, which is accepted and rounded by its consumers.
pub(super) fn warn_of_fraction(
    path: &Path<'_>,
    amounts: &BTreeMap<String, Quantity>,
    resource: &str,
    out: &mut Vec<String>,
) {
    if let Some(amount) = amounts.get(resource).filter(|amount| amount.milli_value() % 1000 != 0) {
        let path = path.key(resource);
        out.push(format!("{path}: fractional byte value \"{amount}\" is invalid, must be an integer"));
    }
}
