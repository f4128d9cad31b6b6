//! Attachments of volumes to nodes.

use machinery::field_path::Path;
use machinery::format::{NameRule, field, is_in_range};
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::IMMUTABLE;
use crate::core::internal::internal_value;
use crate::core::validation::persistent_volume::validate_inline_volume_spec;
use generated::storage::v1::{VolumeAttachment, VolumeAttachmentSource, VolumeAttachmentStatus, VolumeError};

/// Keys and values together, in bytes.
const MAX_METADATA_SIZE: usize = 256 * 1024;
const MAX_MESSAGE_SIZE: usize = 1024;

/// `ValidateVolumeAttachment`, `ValidateVolumeAttachmentUpdate`
pub fn validate_volume_attachment(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &VolumeAttachment,
    old: Option<&VolumeAttachment>,
) {
    let (spec, source) = (path.child("spec"), &new.spec.source);
    v.errors.extend(field::csi_driver_name(&spec.child("attacher"), &new.spec.attacher));
    validate_source(v, &spec.child("source"), source);
    v.name(&spec.child("nodeName"), &new.spec.node_name, NameRule::Dns1123Subdomain);
    validate_status(v, &path.child("status"), &new.status);
    if let Some(name) = &source.persistent_volume_name {
        v.name(&spec.child("source.persistentVolumeName"), name, NameRule::Dns1123Subdomain);
    }
    if old.is_some_and(|old| Ref::of(&old.spec) != Ref::of(&new.spec)) {
        v.invalid(&spec, internal_value(&new.spec), IMMUTABLE);
    }
}

fn validate_source(v: &mut Validation<'_>, path: &Path<'_>, source: &VolumeAttachmentSource) {
    let one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    match (&source.inline_volume_spec, &source.persistent_volume_name) {
        (None, None) => v.required(path, one),
        (Some(_), Some(_)) => v.forbidden(path, one),
        (None, Some(name)) if name.is_empty() => {
            v.required(&path.child("persistentVolumeName"), "must specify non empty persistentVolumeName");
        }
        (Some(spec), None) => validate_inline_volume_spec(v, &path.child("inlineVolumeSpec"), spec),
        (None, Some(_)) => {}
    }
}

fn validate_status(v: &mut Validation<'_>, path: &Path<'_>, status: &VolumeAttachmentStatus) {
    let size: usize = status.attachment_metadata.iter().map(|(name, value)| name.len() + value.len()).sum();
    if size > MAX_METADATA_SIZE {
        v.too_long(&path.child("attachmentMetadata"), MAX_METADATA_SIZE);
    }
    for (name, error) in [("attachError", &status.attach_error), ("detachError", &status.detach_error)] {
        if let Some(error) = error {
            validate_error(v, &path.child(name), error);
        }
    }
}

/// `validateVolumeError`; upstream names the wrong limit.
fn validate_error(v: &mut Validation<'_>, path: &Path<'_>, error: &VolumeError) {
    if error.message.len() > MAX_MESSAGE_SIZE {
        v.too_long(&path.child("message"), MAX_METADATA_SIZE);
    }
    if let Some(code) = error.error_code {
        for message in is_in_range(code.into(), 0, i32::MAX.into()) {
            v.invalid(&path.child("errorCode"), code, message);
        }
    }
}
