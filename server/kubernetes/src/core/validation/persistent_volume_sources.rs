//! Where a persistent volume is. Sources that pods name in another way are checked here.

use machinery::field_path::Path;
use machinery::hooks::Validation;

use super::exclusive::Exclusive;
use super::volume_sources::{
    validate_declared, validate_flex_options, validate_flocker, validate_iscsi_name, validate_lun, validate_quobyte,
};
use generated::core::v1::{FlexPersistentVolumeSource, ISCSIPersistentVolumeSource, PersistentVolumeSpec};

const MAX_TARGET: usize = 64;

/// One source, the first in upstream's order; `name` is that of the volume.
pub(super) fn validate_sources(v: &mut Validation<'_>, path: &Path<'_>, spec: &PersistentVolumeSpec, name: &str) {
    let source = &spec.persistent_volume_source;
    let mut union = Exclusive::new(v, path, "may not specify more than 1 volume type");
    union
        .member("hostPath", &source.host_path, validate_declared)
        .member_named("gcePersistentDisk", "persistentDisk", &source.gce_persistent_disk, validate_declared)
        .member("awsElasticBlockStore", &source.aws_elastic_block_store, validate_declared)
        .member("glusterfs", &source.glusterfs, validate_declared)
        .member("flocker", &source.flocker, validate_flocker)
        .member("nfs", &source.nfs, validate_declared)
        .member("rbd", &source.rbd, validate_declared)
        .member("quobyte", &source.quobyte, validate_quobyte)
        .member_named("cephFS", "cephfs", &source.cephfs, validate_declared)
        .member("iscsi", &source.iscsi, |v, path, iscsi| validate_iscsi(v, path, iscsi, name))
        .member("cinder", &source.cinder, validate_declared)
        .member("fc", &source.fc, validate_declared)
        // Upstream forgets to refuse it next to another source.
        .shared("flexVolume", &source.flex_volume, validate_flex_volume)
        .member("azureFile", &source.azure_file, validate_declared)
        .member("vsphereVolume", &source.vsphere_volume, validate_declared)
        .member("photonPersistentDisk", &source.photon_persistent_disk, validate_declared)
        .member("portworxVolume", &source.portworx_volume, validate_declared)
        .member("azureDisk", &source.azure_disk, validate_declared)
        .member("scaleIO", &source.scale_io, validate_declared)
        .member("local", &source.local, |v, at, local| {
            validate_declared(v, at, local);
            if spec.node_affinity.is_none() {
                v.required(&path.child("nodeAffinity"), "Local volume requires node affinity");
            }
        })
        .member("storageos", &source.storageos, validate_declared)
        .member("csi", &source.csi, validate_declared);
    if !union.found() {
        v.required(path, "must specify a volume type");
    }
}

/// Whether the volume is the whole file system of a node.
pub(super) fn is_root(spec: &PersistentVolumeSpec) -> bool {
    let host_path = spec.persistent_volume_source.host_path.as_deref();
    host_path.is_some_and(|host_path| host_path.path.starts_with('/') && is_clean_root(&host_path.path))
}

/// Whether Go's `path.Clean` makes `/` of an absolute path.
fn is_clean_root(path: &str) -> bool {
    let depth = path.split('/').fold(0usize, |depth, part| match part {
        "" | "." => depth,
        ".." => depth.saturating_sub(1),
        _ => depth + 1,
    });
    depth == 0
}

fn validate_iscsi(v: &mut Validation<'_>, path: &Path<'_>, source: &ISCSIPersistentVolumeSource, name: &str) {
    const MALFORMED: &str = "must be valid format";
    v.filled(&path.child("targetPortal"), &source.target_portal);
    if source.initiator_name.is_some() && name.len() + 1 + source.target_portal.len() > MAX_TARGET {
        let detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if \
                      iscsi.initiatorName is specified.";
        v.invalid(&path.child("targetportal"), &source.target_portal, detail);
    }
    match source.iqn.as_str() {
        "" => v.required(&path.child("iqn"), ""),
        iqn => validate_iscsi_name(v, &path.child("iqn"), iqn, MALFORMED),
    }
    validate_lun(v, &path.child("lun"), source.lun);
    let secret = path.child("secretRef");
    match source.secret_ref.as_deref() {
        None if source.chap_auth_discovery || source.chap_auth_session => v.required(&secret, ""),
        None => {}
        Some(reference) => v.filled(&secret.child("name"), &reference.name),
    }
    if let Some(initiator) = &source.initiator_name {
        validate_iscsi_name(v, &path.child("initiatorname"), initiator, MALFORMED);
    }
}

fn validate_flex_volume(v: &mut Validation<'_>, path: &Path<'_>, source: &FlexPersistentVolumeSource) {
    v.filled(&path.child("driver"), &source.driver);
    validate_flex_options(v, &path.child("options"), &source.options);
}
