//! Where containers see the volumes of their pod: as directories, or as raw devices.

use std::collections::{BTreeMap, BTreeSet};

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;

use super::paths::{has_backsteps, validate_relative_path};
use super::volume::Volumes;
use generated::core::v1::{VolumeDevice, VolumeMount};

const PROPAGATIONS: [&str; 3] = ["Bidirectional", "HostToContainer", "None"];
const RECURSIVE_READ_ONLY: [&str; 3] = ["Disabled", "Enabled", "IfPossible"];

/// `ValidateVolumeMounts`; upstream leaves indexes out of some paths.
pub(super) fn validate_mounts(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    mounts: &[VolumeMount],
    devices: &[VolumeDevice],
    volumes: &Volumes<'_>,
    privileged: bool,
) {
    let mut seen = BTreeSet::new();
    let devices = Paths::of(devices.iter().map(|device| (device.name.as_str(), device.device_path.as_str())));
    for (index, mount) in mounts.iter().enumerate() {
        let entry = path.index(index);
        let (name, mount_path) = (entry.child("name"), entry.child("mountPath"));
        v.filled(&name, &mount.name);
        if !volumes.contains_key(mount.name.as_str()) {
            v.not_found(&name, &mount.name);
        }
        v.filled(&mount_path, &mount.mount_path);
        if !seen.insert(&mount.mount_path) {
            v.invalid(&mount_path, &mount.mount_path, "must be unique");
        }
        if devices.has_name(&mount.name) {
            v.invalid(&name, &mount.name, "must not already exist in volumeDevices");
        }
        if devices.has_path(&mount.mount_path) {
            v.invalid(&mount_path, &mount.mount_path, "must not already exist as a path in volumeDevices");
        }
        validate_sub_paths(v, path, &entry, mount);
        if let Some(propagation) = &mount.mount_propagation {
            validate_propagation(v, &path.child("mountPropagation"), propagation, privileged);
        }
        validate_recursive_read_only(v, &path.child("recursiveReadOnly"), mount);
    }
}

fn validate_sub_paths(v: &mut Validation<'_>, path: &Path<'_>, entry: &Path<'_>, mount: &VolumeMount) {
    if !mount.sub_path.is_empty() {
        validate_relative_path(v, &path.child("subPath"), &mount.sub_path);
    }
    if mount.sub_path_expr.is_empty() {
        return;
    }
    if !mount.sub_path.is_empty() {
        let detail = "subPathExpr and subPath are mutually exclusive";
        v.invalid(&entry.child("subPathExpr"), &mount.sub_path_expr, detail);
    }
    validate_relative_path(v, &path.child("subPathExpr"), &mount.sub_path_expr);
}

/// `validateMountPropagation`
fn validate_propagation(v: &mut Validation<'_>, path: &Path<'_>, propagation: &str, privileged: bool) {
    v.one_of(path, propagation, &PROPAGATIONS);
    if propagation == "Bidirectional" && !privileged {
        v.forbidden(path, "Bidirectional mount propagation is available only to privileged containers");
    }
}

/// `validateMountRecursiveReadOnly`
fn validate_recursive_read_only(v: &mut Validation<'_>, path: &Path<'_>, mount: &VolumeMount) {
    match mount.recursive_read_only.as_deref() {
        None | Some("Disabled") => {}
        Some("Enabled" | "IfPossible") => {
            if !mount.read_only {
                v.forbidden(path, "may only be specified when readOnly is true");
            }
            if mount.mount_propagation.as_deref().is_some_and(|propagation| propagation != "None") {
                v.forbidden(path, "may only be specified when mountPropagation is None or not specified");
            }
        }
        Some(unknown) => v.not_supported(path, BadValue::json_string(unknown), &RECURSIVE_READ_ONLY),
    }
}

/// `ValidateVolumeDevices`
pub(super) fn validate_devices(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    devices: &[VolumeDevice],
    mounts: &[VolumeMount],
    volumes: &Volumes<'_>,
) {
    let (mut names, mut paths) = (BTreeSet::new(), BTreeSet::new());
    let mounts = Paths::of(mounts.iter().map(|mount| (mount.name.as_str(), mount.mount_path.as_str())));
    for (index, device) in devices.iter().enumerate() {
        let entry = path.index(index);
        let (name, device_path) = (entry.child("name"), entry.child("devicePath"));
        v.filled(&name, &device.name);
        if !device.name.is_empty() && !names.insert(&device.name) {
            v.invalid(&name, &device.name, "must be unique");
        }
        match volumes.get(device.name.as_str()) {
            Some(source) if source.persistent_volume_claim.is_none() && source.ephemeral.is_none() => {
                let detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                v.invalid(&name, &device.name, detail);
            }
            Some(_) => {}
            None => v.not_found(&name, &device.name),
        }
        v.filled(&device_path, &device.device_path);
        if paths.contains(&device.device_path) {
            v.invalid(&device_path, &device.device_path, "must be unique");
        }
        if has_backsteps(&device.device_path) {
            v.invalid(&device_path, &device.device_path, "can not contain backsteps ('..')");
        } else {
            paths.insert(&device.device_path);
        }
        if mounts.has_name(&device.name) {
            v.invalid(&name, &device.name, "must not already exist in volumeMounts");
        }
        if mounts.has_path(&device.device_path) {
            v.invalid(&device_path, &device.device_path, "must not already exist as a path in volumeMounts");
        }
    }
}

/// Paths by name. The last path of a name counts, as in upstream's map.
struct Paths<'p> {
    by_name: BTreeMap<&'p str, &'p str>,
    paths: BTreeSet<&'p str>,
}

impl<'p> Paths<'p> {
    fn of(entries: impl Iterator<Item = (&'p str, &'p str)>) -> Self {
        let by_name: BTreeMap<&str, &str> = entries.collect();
        let paths = by_name.values().copied().collect();
        Paths { by_name, paths }
    }

    fn has_name(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    fn has_path(&self, path: &str) -> bool {
        self.paths.contains(path)
    }
}
