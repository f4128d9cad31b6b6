//! Where containers see the volumes of their pod: as directories, or as raw devices.

use std::collections::{BTreeMap, BTreeSet};

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::volume::Volumes;
use generated::core::v1::{VolumeDevice, VolumeMount};

/// `ValidateVolumeMounts`. By hand: volumes, mounts and devices are compared with each other.
pub(super) fn validate_mounts(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    mounts: &[VolumeMount],
    devices: &[VolumeDevice],
    volumes: &Volumes<'_>,
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
        v.checks(&entry, Ref::of(mount), None);
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
        if device.device_path.split('/').any(|part| part == "..") {
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
