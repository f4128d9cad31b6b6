//! Sources of volumes, one function each. Those that persistent volumes have too are public.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, NameRule, field};
use machinery::hooks::Validation;
use regex::Regex;

use super::items::validate_items;
use super::paths::{validate_file_mode, validate_no_backsteps, validate_relative_path};
use crate::core::v1::{
    AWSElasticBlockStoreVolumeSource, AzureDiskVolumeSource, AzureFileVolumeSource, CSIVolumeSource,
    CephFSVolumeSource, CinderVolumeSource, ConfigMapVolumeSource, EmptyDirVolumeSource, FCVolumeSource,
    FlexVolumeSource, FlockerVolumeSource, GCEPersistentDiskVolumeSource, GitRepoVolumeSource, GlusterfsVolumeSource,
    HostPathVolumeSource, ISCSIVolumeSource, LocalObjectReference, NFSVolumeSource, PersistentVolumeClaimVolumeSource,
    PhotonPersistentDiskVolumeSource, PortworxVolumeSource, QuobyteVolumeSource, RBDVolumeSource, ScaleIOVolumeSource,
    SecretVolumeSource, StorageOSVolumeSource, VsphereVirtualDiskVolumeSource,
};

const HOST_PATH_TYPES: [&str; 8] =
    ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
const CACHING_MODES: [&str; 3] = ["None", "ReadOnly", "ReadWrite"];
const DISK_KINDS: [&str; 3] = ["Dedicated", "Managed", "Shared"];
const MANAGED_DISK_URI: &str =
    "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const BLOB_DISK_URI: &str = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";
const HOST_PORTS: &str = "must be a host:port pair or multiple pairs separated by commas";

/// The prefixes of names in iSCSI, and what such names look like.
static ISCSI_NAMES: LazyLock<Vec<(&str, Option<Regex>)>> = LazyLock::new(|| {
    [
        ("iqn", r"iqn\.\d{4}-\d{2}\.([[:alnum:]\-.]+)(:[^,;*&$|\s]+)$"),
        ("eui", r"^eui.[[:alnum:]]{16}$"),
        ("naa", r"^naa.[[:alnum:]]{32}$"),
    ]
    .map(|(prefix, pattern)| (prefix, Regex::new(pattern).ok()))
    .into()
});

pub(super) fn validate_empty_dir(v: &mut Validation<'_>, path: &Path<'_>, source: &EmptyDirVolumeSource) {
    if source.size_limit.as_ref().is_some_and(|limit| limit.sign().is_lt()) {
        v.forbidden(&path.child("sizeLimit"), "SizeLimit field must be a valid resource quantity");
    }
}

pub fn validate_host_path(v: &mut Validation<'_>, path: &Path<'_>, source: &HostPathVolumeSource) {
    if source.path.is_empty() {
        return v.required(&path.child("path"), "");
    }
    validate_no_backsteps(v, &path.child("path"), &source.path);
    if let Some(kind) = &source.r#type {
        v.one_of(&path.child("type"), kind, &HOST_PATH_TYPES);
    }
}

pub(super) fn validate_git_repo(v: &mut Validation<'_>, path: &Path<'_>, source: &GitRepoVolumeSource) {
    v.filled(&path.child("repository"), &source.repository);
    validate_relative_path(v, &path.child("directory"), &source.directory);
}

pub(super) fn validate_iscsi(v: &mut Validation<'_>, path: &Path<'_>, source: &ISCSIVolumeSource) {
    const WRONG_PREFIX: &str = "must be valid format starting with iqn, eui, or naa";
    v.filled(&path.child("targetPortal"), &source.target_portal);
    if source.iqn.is_empty() {
        v.required(&path.child("iqn"), "");
    } else {
        validate_iscsi_name(v, &path.child("iqn"), &source.iqn, WRONG_PREFIX);
    }
    validate_lun(v, &path.child("lun"), source.lun);
    if (source.chap_auth_discovery || source.chap_auth_session) && source.secret_ref.is_none() {
        v.required(&path.child("secretRef"), "");
    }
    if let Some(initiator) = &source.initiator_name {
        validate_iscsi_name(v, &path.child("initiatorname"), initiator, WRONG_PREFIX);
    }
}

/// The name of a target or initiator; `wrong_prefix` is said of one that has none of the known prefixes.
pub fn validate_iscsi_name(v: &mut Validation<'_>, path: &Path<'_>, name: &str, wrong_prefix: &'static str) {
    match ISCSI_NAMES.iter().find(|(prefix, _)| name.starts_with(prefix)) {
        None => v.invalid(path, name, wrong_prefix),
        Some((_, Some(shape))) if !shape.is_match(name) => v.invalid(path, name, "must be valid format"),
        Some(_) => {}
    }
}

/// The number of a unit behind a target.
pub fn validate_lun(v: &mut Validation<'_>, path: &Path<'_>, lun: i32) {
    for message in format::is_in_range(lun.into(), 0, 255) {
        v.invalid(path, lun, message);
    }
}

pub fn validate_fc(v: &mut Validation<'_>, path: &Path<'_>, source: &FCVolumeSource) {
    let names = path.child("targetWWNs");
    if source.target_wwns.is_empty() && source.wwids.is_empty() {
        v.required(&names, "must specify either targetWWNs or wwids, but not both");
    }
    if !source.target_wwns.is_empty() && !source.wwids.is_empty() {
        let detail = "targetWWNs and wwids can not be specified simultaneously";
        v.invalid(&names, BadValue::strings(&source.target_wwns), detail);
    }
    match source.lun {
        _ if source.target_wwns.is_empty() => {}
        None => v.required(&path.child("lun"), "lun is required if targetWWNs is specified"),
        Some(lun) => validate_lun(v, &path.child("lun"), lun),
    }
}

pub fn validate_gce_persistent_disk(v: &mut Validation<'_>, path: &Path<'_>, source: &GCEPersistentDiskVolumeSource) {
    v.filled(&path.child("pdName"), &source.pd_name);
    validate_partition(v, &path.child("partition"), source.partition);
}

pub fn validate_aws_elastic_block_store(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    source: &AWSElasticBlockStoreVolumeSource,
) {
    v.filled(&path.child("volumeID"), &source.volume_id);
    validate_partition(v, &path.child("partition"), source.partition);
}

/// The number of a partition; 0 says that there is none.
fn validate_partition(v: &mut Validation<'_>, path: &Path<'_>, partition: i32) {
    if !(0..=255).contains(&partition) {
        v.invalid(path, partition, "must be between 1 and 255, inclusive");
    }
}

pub(super) fn validate_secret(v: &mut Validation<'_>, path: &Path<'_>, source: &SecretVolumeSource) {
    v.filled(&path.child("secretName"), &source.secret_name);
    validate_file_mode(v, &path.child("defaultMode"), source.default_mode);
    validate_items(v, &path.child("items"), &source.items);
}

pub(super) fn validate_config_map(v: &mut Validation<'_>, path: &Path<'_>, source: &ConfigMapVolumeSource) {
    v.filled(&path.child("name"), &source.local_object_reference.name);
    validate_file_mode(v, &path.child("defaultMode"), source.default_mode);
    validate_items(v, &path.child("items"), &source.items);
}

pub(super) fn validate_claim(v: &mut Validation<'_>, path: &Path<'_>, source: &PersistentVolumeClaimVolumeSource) {
    v.filled(&path.child("claimName"), &source.claim_name);
}

pub fn validate_nfs(v: &mut Validation<'_>, path: &Path<'_>, source: &NFSVolumeSource) {
    v.filled(&path.child("server"), &source.server);
    v.filled(&path.child("path"), &source.path);
    if !source.path.starts_with('/') {
        v.invalid(&path.child("path"), &source.path, "must be an absolute path");
    }
}

pub fn validate_quobyte(v: &mut Validation<'_>, path: &Path<'_>, source: &QuobyteVolumeSource) {
    if source.registry.is_empty() {
        v.required(&path.child("registry"), HOST_PORTS);
    } else if source.tenant.len() >= 65 {
        v.required(&path.child("tenant"), "must be a UUID and may not exceed a length of 64 characters");
    } else {
        for _ in source.registry.split(',').filter(|pair| !is_host_port(pair)) {
            v.invalid(&path.child("registry"), &source.registry, HOST_PORTS);
        }
    }
    v.filled(&path.child("volume"), &source.volume);
}

/// Whether Go's `net.SplitHostPort` would part it.
fn is_host_port(text: &str) -> bool {
    let parts = match text.strip_prefix('[') {
        Some(rest) => rest.split_once("]:"),
        None => text.split_once(':'),
    };
    parts.is_some_and(|(host, port)| !host.contains(['[', ']']) && !port.contains([':', '[', ']']))
}

pub(super) fn validate_glusterfs(v: &mut Validation<'_>, path: &Path<'_>, source: &GlusterfsVolumeSource) {
    v.filled(&path.child("endpoints"), &source.endpoints);
    v.filled(&path.child("path"), &source.path);
}

pub fn validate_flocker(v: &mut Validation<'_>, path: &Path<'_>, source: &FlockerVolumeSource) {
    let (name, uuid) = (!source.dataset_name.is_empty(), !source.dataset_uuid.is_empty());
    if !name && !uuid {
        v.required(path, "one of datasetName and datasetUUID is required");
    }
    if name && uuid {
        v.invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously");
    }
    if source.dataset_name.contains('/') {
        v.invalid(&path.child("datasetName"), &source.dataset_name, "must not contain '/'");
    }
}

pub(super) fn validate_rbd(v: &mut Validation<'_>, path: &Path<'_>, source: &RBDVolumeSource) {
    validate_monitors(v, path, &source.monitors);
    v.filled(&path.child("image"), &source.image);
}

pub(super) fn validate_cephfs(v: &mut Validation<'_>, path: &Path<'_>, source: &CephFSVolumeSource) {
    validate_monitors(v, path, &source.monitors);
}

fn validate_monitors(v: &mut Validation<'_>, path: &Path<'_>, monitors: &[String]) {
    if monitors.is_empty() {
        v.required(&path.child("monitors"), "");
    }
}

pub(super) fn validate_cinder(v: &mut Validation<'_>, path: &Path<'_>, source: &CinderVolumeSource) {
    v.filled(&path.child("volumeID"), &source.volume_id);
    validate_secret_ref(v, path, source.secret_ref.as_deref());
}

fn validate_secret_ref(v: &mut Validation<'_>, path: &Path<'_>, secret: Option<&LocalObjectReference>) {
    if let Some(secret) = secret {
        v.filled(&path.child("secretRef.name"), &secret.name);
    }
}

pub(super) fn validate_flex_volume(v: &mut Validation<'_>, path: &Path<'_>, source: &FlexVolumeSource) {
    v.filled(&path.child("driver"), &source.driver);
    validate_flex_options(v, &path.child("options"), &source.options);
}

/// Options of a driver; those that Kubernetes names itself are not for users.
pub fn validate_flex_options(v: &mut Validation<'_>, path: &Path<'_>, options: &BTreeMap<String, String>) {
    for key in options.keys() {
        let domain = key.split_once('/').map_or(key.as_str(), |(domain, _)| domain);
        let domain = format!(".{}", domain.to_lowercase());
        if domain.ends_with(".kubernetes.io") || domain.ends_with(".k8s.io") {
            v.invalid(&path.key(key), key, "kubernetes.io and k8s.io namespaces are reserved");
        }
    }
}

pub(super) fn validate_azure_file(v: &mut Validation<'_>, path: &Path<'_>, source: &AzureFileVolumeSource) {
    v.filled(&path.child("secretName"), &source.secret_name);
    v.filled(&path.child("shareName"), &source.share_name);
}

pub fn validate_azure_disk(v: &mut Validation<'_>, path: &Path<'_>, source: &AzureDiskVolumeSource) {
    let uri = path.child("diskURI");
    v.filled(&path.child("diskName"), &source.disk_name);
    v.filled(&uri, &source.disk_uri);
    if let Some(mode) = &source.caching_mode {
        v.one_of(&path.child("cachingMode"), mode, &CACHING_MODES);
    }
    let Some(kind) = &source.kind else { return };
    v.one_of(&path.child("kind"), kind, &DISK_KINDS);
    if kind == "Managed" && !source.disk_uri.starts_with("/subscriptions/") {
        v.not_supported(&uri, &source.disk_uri, &[MANAGED_DISK_URI]);
    }
    if kind != "Managed" && !source.disk_uri.starts_with("https://") {
        v.not_supported(&uri, &source.disk_uri, &[BLOB_DISK_URI]);
    }
}

pub fn validate_vsphere_volume(v: &mut Validation<'_>, path: &Path<'_>, source: &VsphereVirtualDiskVolumeSource) {
    v.filled(&path.child("volumePath"), &source.volume_path);
}

pub fn validate_photon_persistent_disk(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    source: &PhotonPersistentDiskVolumeSource,
) {
    v.filled(&path.child("pdID"), &source.pd_id);
}

pub fn validate_portworx_volume(v: &mut Validation<'_>, path: &Path<'_>, source: &PortworxVolumeSource) {
    v.filled(&path.child("volumeID"), &source.volume_id);
}

pub(super) fn validate_scale_io(v: &mut Validation<'_>, path: &Path<'_>, source: &ScaleIOVolumeSource) {
    v.filled(&path.child("gateway"), &source.gateway);
    v.filled(&path.child("system"), &source.system);
    v.filled(&path.child("volumeName"), &source.volume_name);
}

pub(super) fn validate_storageos(v: &mut Validation<'_>, path: &Path<'_>, source: &StorageOSVolumeSource) {
    if source.volume_name.is_empty() {
        v.required(&path.child("volumeName"), "");
    } else {
        v.name(&path.child("volumeName"), &source.volume_name, NameRule::Dns1123Label);
    }
    if !source.volume_namespace.is_empty() {
        v.name(&path.child("volumeNamespace"), &source.volume_namespace, NameRule::Dns1123Label);
    }
    validate_secret_ref(v, path, source.secret_ref.as_deref());
}

pub(super) fn validate_csi(v: &mut Validation<'_>, path: &Path<'_>, source: &CSIVolumeSource) {
    v.errors.extend(field::csi_driver_name(&path.child("driver"), &source.driver));
    match source.node_publish_secret_ref.as_deref() {
        Some(secret) if secret.name.is_empty() => v.required(&path.child("nodePublishSecretRef.name"), ""),
        Some(secret) => v.name(&path.child("name"), &secret.name, NameRule::Dns1123Subdomain),
        None => {}
    }
}
