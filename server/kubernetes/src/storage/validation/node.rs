//! What a node's drivers say of themselves.

use std::collections::{HashMap, HashSet};

use machinery::features;
use machinery::field_path::Path;
use machinery::format::{self, field};
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::IMMUTABLE;
use crate::core::internal::internal_value;
use generated::storage::v1::{CSINode, CSINodeDriver};

const MAX_NODE_ID_LENGTH: usize = 256;

/// `ValidateCSINode`, `ValidateCSINodeUpdate`
pub fn validate_csi_node(v: &mut Validation<'_>, path: &Path<'_>, new: &CSINode, old: Option<&CSINode>) {
    let path = path.child("spec.drivers");
    let mut names = HashSet::new();
    for (index, driver) in new.spec.drivers.iter().enumerate() {
        let path = path.index(index);
        validate_names(v, &path, driver);
        if !names.insert(driver.name.as_str()) {
            v.duplicate(&path.child("name"), &driver.name);
        }
        validate_topology_keys(v, &path, &driver.topology_keys);
    }
    let Some(old) = old else { return };
    let mut by_name: HashMap<&str, Vec<&CSINodeDriver>> = HashMap::new();
    for driver in &new.spec.drivers {
        by_name.entry(&driver.name).or_default().push(driver);
    }
    for old in &old.spec.drivers {
        for new in by_name.get(old.name.as_str()).into_iter().flatten() {
            validate_same_driver(v, &path, new, old);
        }
    }
}

fn validate_names(v: &mut Validation<'_>, path: &Path<'_>, driver: &CSINodeDriver) {
    v.errors.extend(field::csi_driver_name(&path.child("name"), &driver.name));
    let id = path.child("nodeID");
    v.filled(&id, &driver.node_id);
    if driver.node_id.len() > MAX_NODE_ID_LENGTH {
        v.invalid(&id, &driver.node_id, format!("must be {MAX_NODE_ID_LENGTH} characters or less"));
    }
    if let Some(count) = driver.allocatable.as_ref().and_then(|allocatable| allocatable.count) {
        v.not_negative(&path.child("allocatable").child("count"), count);
    }
}

fn validate_topology_keys(v: &mut Validation<'_>, path: &Path<'_>, keys: &[String]) {
    let mut seen = HashSet::new();
    for key in keys {
        v.filled(path, key);
        if !seen.insert(key) {
            v.duplicate(path, key);
        }
        v.malformed(path, key, format::is_qualified_name(key));
    }
}

/// Nothing may change but how many volumes fit.
fn validate_same_driver(v: &mut Validation<'_>, path: &Path<'_>, new: &CSINodeDriver, old: &CSINodeDriver) {
    let mut drivers = [new.clone(), old.clone()];
    if v.context.enabled(features::MutableCSINodeAllocatableCount) {
        drivers.iter_mut().for_each(|driver| driver.allocatable = None);
    }
    let [new, old] = &drivers;
    if Ref::of(new) != Ref::of(old) {
        v.invalid(path, internal_value(new), IMMUTABLE);
    }
}
