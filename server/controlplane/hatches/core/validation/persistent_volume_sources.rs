//! Where a persistent volume is. Sources that pods name in another way are checked here.

use machinery::field_path::Path;
use machinery::format::field::csi_driver_name;
use machinery::format::{NameRule, is_dns1123_label};
use machinery::hooks::Validation;

use super::exclusive::Exclusive;
use super::paths::validate_no_backsteps;
use super::volume_sources::{
    validate_aws_elastic_block_store, validate_azure_disk, validate_fc, validate_flex_options, validate_flocker,
    validate_gce_persistent_disk, validate_host_path, validate_iscsi_name, validate_lun, validate_nfs,
    validate_photon_persistent_disk, validate_portworx_volume, validate_quobyte, validate_vsphere_volume,
};
use crate::core::v1::{
    AzureFilePersistentVolumeSource, CSIPersistentVolumeSource, CinderPersistentVolumeSource,
    FlexPersistentVolumeSource, GlusterfsPersistentVolumeSource, ISCSIPersistentVolumeSource, LocalVolumeSource,
    PersistentVolumeSpec, RBDPersistentVolumeSource, ScaleIOPersistentVolumeSource, SecretReference,
    StorageOSPersistentVolumeSource,
};

const MAX_TARGET: usize = 64;

/// One source, the first in upstream's order; `name` is that of the volume.
pub(super) fn validate_sources(v: &mut Validation<'_>, path: &Path<'_>, spec: &PersistentVolumeSpec, name: &str) {
    let source = &spec.persistent_volume_source;
    let mut union = Exclusive::new(v, path, "may not specify more than 1 volume type");
    union
        .member("hostPath", &source.host_path, validate_host_path)
        .member_named("gcePersistentDisk", "persistentDisk", &source.gce_persistent_disk, validate_gce_persistent_disk)
        .member("awsElasticBlockStore", &source.aws_elastic_block_store, validate_aws_elastic_block_store)
        .member("glusterfs", &source.glusterfs, validate_glusterfs)
        .member("flocker", &source.flocker, validate_flocker)
        .member("nfs", &source.nfs, validate_nfs)
        .member("rbd", &source.rbd, validate_rbd)
        .member("quobyte", &source.quobyte, validate_quobyte)
        .member_named("cephFS", "cephfs", &source.cephfs, |v, path, cephfs| {
            if cephfs.monitors.is_empty() {
                v.required(&path.child("monitors"), "");
            }
        })
        .member("iscsi", &source.iscsi, |v, path, iscsi| validate_iscsi(v, path, iscsi, name))
        .member("cinder", &source.cinder, validate_cinder)
        .member("fc", &source.fc, validate_fc)
        // Upstream forgets to refuse it next to another source.
        .shared("flexVolume", &source.flex_volume, validate_flex_volume)
        .member("azureFile", &source.azure_file, validate_azure_file)
        .member("vsphereVolume", &source.vsphere_volume, validate_vsphere_volume)
        .member("photonPersistentDisk", &source.photon_persistent_disk, validate_photon_persistent_disk)
        .member("portworxVolume", &source.portworx_volume, validate_portworx_volume)
        .member("azureDisk", &source.azure_disk, validate_azure_disk)
        .member("scaleIO", &source.scale_io, validate_scale_io)
        .member("local", &source.local, |v, at, local| {
            validate_local(v, at, local);
            if spec.node_affinity.is_none() {
                v.required(&path.child("nodeAffinity"), "Local volume requires node affinity");
            }
        })
        .member("storageos", &source.storageos, validate_storageos)
        .member("csi", &source.csi, validate_csi);
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

fn validate_glusterfs(v: &mut Validation<'_>, path: &Path<'_>, source: &GlusterfsPersistentVolumeSource) {
    v.filled(&path.child("endpoints"), &source.endpoints);
    v.filled(&path.child("path"), &source.path);
    let at = path.child("endpointsNamespace");
    match source.endpoints_namespace.as_deref() {
        None => {}
        Some("") => v.invalid(&at, "", "if the endpointnamespace is set, it must be a valid namespace name"),
        Some(namespace) => v.name(&at, namespace, NameRule::Dns1123Label),
    }
}

fn validate_rbd(v: &mut Validation<'_>, path: &Path<'_>, source: &RBDPersistentVolumeSource) {
    if source.monitors.is_empty() {
        v.required(&path.child("monitors"), "");
    }
    v.filled(&path.child("image"), &source.image);
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

fn validate_cinder(v: &mut Validation<'_>, path: &Path<'_>, source: &CinderPersistentVolumeSource) {
    v.filled(&path.child("volumeID"), &source.volume_id);
    if let Some(secret) = source.secret_ref.as_deref() {
        let path = path.child("secretRef");
        v.filled(&path.child("name"), &secret.name);
        v.filled(&path.child("namespace"), &secret.namespace);
    }
}

fn validate_flex_volume(v: &mut Validation<'_>, path: &Path<'_>, source: &FlexPersistentVolumeSource) {
    v.filled(&path.child("driver"), &source.driver);
    validate_flex_options(v, &path.child("options"), &source.options);
}

fn validate_azure_file(v: &mut Validation<'_>, path: &Path<'_>, source: &AzureFilePersistentVolumeSource) {
    v.filled(&path.child("secretName"), &source.secret_name);
    v.filled(&path.child("shareName"), &source.share_name);
    if let Some(namespace) = &source.secret_namespace {
        v.filled(&path.child("secretNamespace"), namespace);
    }
}

fn validate_scale_io(v: &mut Validation<'_>, path: &Path<'_>, source: &ScaleIOPersistentVolumeSource) {
    v.filled(&path.child("gateway"), &source.gateway);
    v.filled(&path.child("system"), &source.system);
    v.filled(&path.child("volumeName"), &source.volume_name);
}

fn validate_local(v: &mut Validation<'_>, path: &Path<'_>, source: &LocalVolumeSource) {
    let path = path.child("path");
    v.filled(&path, &source.path);
    validate_no_backsteps(v, &path, &source.path);
}

fn validate_storageos(v: &mut Validation<'_>, path: &Path<'_>, source: &StorageOSPersistentVolumeSource) {
    v.filled(&path.child("volumeName"), &source.volume_name);
    for (field, name) in [("volumeName", &source.volume_name), ("volumeNamespace", &source.volume_namespace)] {
        if !name.is_empty() {
            v.malformed(&path.child(field), name, is_dns1123_label(name));
        }
    }
    if let Some(secret) = source.secret_ref.as_deref() {
        let path = path.child("secretRef");
        v.filled(&path.child("name"), &secret.name);
        v.filled(&path.child("namespace"), &secret.namespace);
    }
}

/// Not the stage secret: upstream does not look at it.
fn validate_csi(v: &mut Validation<'_>, path: &Path<'_>, source: &CSIPersistentVolumeSource) {
    v.errors.extend(csi_driver_name(&path.child("driver"), &source.driver));
    v.filled(&path.child("volumeHandle"), &source.volume_handle);
    for (field, secret) in [
        ("controllerPublishSecretRef", &source.controller_publish_secret_ref),
        ("controllerExpandSecretRef", &source.controller_expand_secret_ref),
        ("nodePublishSecretRef", &source.node_publish_secret_ref),
        ("nodeExpandSecretRef", &source.node_expand_secret_ref),
    ] {
        if let Some(secret) = secret.as_deref() {
            validate_secret(v, &path.child(field), secret);
        }
    }
}

/// `validatePVSecretReference`
fn validate_secret(v: &mut Validation<'_>, path: &Path<'_>, secret: &SecretReference) {
    for (field, name, rule) in
        [("name", &secret.name, NameRule::Dns1123Subdomain), ("namespace", &secret.namespace, NameRule::Dns1123Label)]
    {
        let path = path.child(field);
        v.filled(&path, name);
        v.malformed_name(&path, name, rule, false);
    }
}
