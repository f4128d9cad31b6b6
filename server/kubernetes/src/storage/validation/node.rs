//! Validation of CSI nodes and volume attachments.

use std::collections::HashMap;

use machinery::features;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::reflect::Ref;

use crate::core::internal::internal_value;
use generated::storage::v1::{CSINode, CSINodeDriver, VolumeError};

const MAX_MESSAGE_SIZE: usize = 1024;
/// The limit in the message, which is that of all attachment metadata.
const WRONG_MESSAGE_SIZE: usize = 256 * 1024;

/// Checks that only the number of volumes of a driver changes. Hand-written, because drivers are looked
/// up by name, and the stored form of each is searched in all new ones.
pub fn validate_drivers_update(v: &mut Validation<'_>, path: &Path<'_>, new: &CSINode, old: Option<&CSINode>) {
    let path = path.child("spec.drivers");
    let any_count = v.context.enabled(features::MutableCSINodeAllocatableCount);
    let compared = |driver: &CSINodeDriver| {
        let allocatable = driver.allocatable.clone().filter(|_| !any_count);
        CSINodeDriver { allocatable, ..driver.clone() }
    };
    let mut by_name: HashMap<&str, Vec<CSINodeDriver>> = HashMap::new();
    for driver in &new.spec.drivers {
        by_name.entry(&driver.name).or_default().push(compared(driver));
    }
    for old in old.into_iter().flat_map(|old| &old.spec.drivers) {
        let old = compared(old);
        for new in by_name.get(old.name.as_str()).into_iter().flatten().filter(|new| Ref::of(*new) != Ref::of(&old)) {
            v.invalid(&path, internal_value(new), "field is immutable");
        }
    }
}

/// Validates the message of an error. Hand-written, because upstream's message states the wrong limit
/// (`validateVolumeError`).
pub fn validate_message(v: &mut Validation<'_>, path: &Path<'_>, error: &VolumeError, _: Option<&VolumeError>) {
    if error.message.len() > MAX_MESSAGE_SIZE {
        v.too_long(&path.child(json_name!(VolumeError.message)), WRONG_MESSAGE_SIZE);
    }
}
