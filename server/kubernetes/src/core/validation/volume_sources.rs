//! What no declaration says of sources of volumes.

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::options;

use super::volume::{LONG_PORTAL, MAX_TARGET};
use generated::core::v1::{
    AzureDiskVolumeSource, EmptyDirVolumeSource, ISCSIPersistentVolumeSource, QuobyteVolumeSource,
};

const MANAGED_DISK_URI: &str =
    "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const BLOB_DISK_URI: &str = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

/// By hand: a negative amount is forbidden, not invalid.
pub fn validate_empty_dir(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    source: &EmptyDirVolumeSource,
    _: Option<&EmptyDirVolumeSource>,
) {
    if source.size_limit.as_ref().is_some_and(|limit| limit.sign().is_lt()) {
        v.forbidden(&path.child("sizeLimit"), "SizeLimit field must be a valid resource quantity");
    }
}

/// By hand: the length of the tenant counts more than the registry, which is a list in a text.
pub fn validate_quobyte_registry(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    source: &QuobyteVolumeSource,
    _: Option<&QuobyteVolumeSource>,
) {
    if source.tenant.len() >= 65 {
        return v.required(&path.child("tenant"), "must be a UUID and may not exceed a length of 64 characters");
    }
    for _ in source.registry.split(',').filter(|pair| !is_host_port(pair)) {
        let detail = "must be a host:port pair or multiple pairs separated by commas";
        v.invalid(&path.child("registry"), &source.registry, detail);
    }
}

/// Whether Go's `net.SplitHostPort` would part it.
fn is_host_port(text: &str) -> bool {
    let parts = match text.strip_prefix('[') {
        Some(rest) => rest.split_once("]:"),
        None => text.split_once(':'),
    };
    parts.is_some_and(|(host, port)| !host.contains(['[', ']']) && !port.contains([':', '[', ']']))
}

/// The name of the persistent volume and the portal have to fit into a name of a target. By hand: two lengths are
/// added.
pub fn validate_target_length(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    source: &ISCSIPersistentVolumeSource,
    _: Option<&ISCSIPersistentVolumeSource>,
) {
    let volume = v.option(options::OBJECT_NAME).unwrap_or_default().len();
    if volume + 1 + source.target_portal.len() > MAX_TARGET {
        v.invalid(&path.child("targetportal"), &source.target_portal, LONG_PORTAL);
    }
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
