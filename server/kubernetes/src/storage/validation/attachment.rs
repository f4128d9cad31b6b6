//! Attachments of volumes to nodes.

use machinery::field_path::Path;
use machinery::hooks::Validation;

use generated::storage::v1::{VolumeAttachmentStatus, VolumeError};

/// Keys and values together, in bytes.
const MAX_METADATA_SIZE: usize = 256 * 1024;
const MAX_MESSAGE_SIZE: usize = 1024;

/// By hand: the size is that of all keys and values.
pub fn validate_attachment_metadata(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    status: &VolumeAttachmentStatus,
    _: Option<&VolumeAttachmentStatus>,
) {
    let size: usize = status.attachment_metadata.iter().map(|(name, value)| name.len() + value.len()).sum();
    if size > MAX_METADATA_SIZE {
        v.too_long(&path.child("attachmentMetadata"), MAX_METADATA_SIZE);
    }
}

/// By hand: upstream names the wrong limit (`validateVolumeError`).
pub fn validate_message(v: &mut Validation<'_>, path: &Path<'_>, error: &VolumeError, _: Option<&VolumeError>) {
    if error.message.len() > MAX_MESSAGE_SIZE {
        v.too_long(&path.child("message"), MAX_METADATA_SIZE);
    }
}
