//! Sources of volumes, one function each. Those that persistent volumes have too are public.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use machinery::field_path::Path;
use machinery::format::{self, NameRule, field};
use machinery::hooks::Validation;
use machinery::reflect::{Ref, Struct};
use regex::Regex;

use super::items::validate_items;
use super::paths::{validate_file_mode, validate_relative_path};
use generated::core::v1::{
    AzureDiskVolumeSource, CSIVolumeSource, ConfigMapVolumeSource, EmptyDirVolumeSource, FlexVolumeSource,
    FlockerVolumeSource, GitRepoVolumeSource, ISCSIVolumeSource, QuobyteVolumeSource, SecretVolumeSource,
};

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

/// The checks that are declared for a source.
pub fn validate_declared<T: Struct>(v: &mut Validation<'_>, path: &Path<'_>, source: &T) {
    v.checks(path, Ref::of(source), None);
}

/// The address of a disk, which depends on its kind.
pub fn validate_disk_uri(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    source: &AzureDiskVolumeSource,
    _: Option<&AzureDiskVolumeSource>,
) {
    let (path, uri) = (path.child("diskURI"), source.disk_uri.as_str());
    match source.kind.as_deref() {
        None => {}
        Some("Managed") if !uri.starts_with("/subscriptions/") => v.not_supported(&path, uri, &[MANAGED_DISK_URI]),
        Some(kind) if kind != "Managed" && !uri.starts_with("https://") => {
            v.not_supported(&path, uri, &[BLOB_DISK_URI]);
        }
        Some(_) => {}
    }
}

pub(super) fn validate_csi(v: &mut Validation<'_>, path: &Path<'_>, source: &CSIVolumeSource) {
    v.errors.extend(field::csi_driver_name(&path.child("driver"), &source.driver));
    match source.node_publish_secret_ref.as_deref() {
        Some(secret) if secret.name.is_empty() => v.required(&path.child("nodePublishSecretRef.name"), ""),
        Some(secret) => v.name(&path.child("name"), &secret.name, NameRule::Dns1123Subdomain),
        None => {}
    }
}
