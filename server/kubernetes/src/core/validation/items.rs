//! Keys of config maps and secrets, and fields of the pod, as files.

use std::collections::BTreeSet;

use machinery::field_path::Path;
use machinery::hooks::Validation;

use super::env::{VOLUME_FIELDS, validate_field_ref, validate_resource_field_ref};
use super::paths::{validate_file_mode, validate_volume_path};
use generated::core::v1::{DownwardAPIVolumeFile, DownwardAPIVolumeSource, KeyToPath};

/// Keys and the files they become.
pub(super) fn validate_items(v: &mut Validation<'_>, path: &Path<'_>, items: &[KeyToPath]) {
    for (index, item) in items.iter().enumerate() {
        validate_item(v, &path.index(index), item);
    }
}

/// `validateKeyToPath`
pub(super) fn validate_item(v: &mut Validation<'_>, path: &Path<'_>, item: &KeyToPath) {
    v.filled(&path.child("key"), &item.key);
    v.filled(&path.child("path"), &item.path);
    validate_volume_path(v, &path.child("path"), &item.path);
    validate_file_mode(v, &path.child("mode"), item.mode);
}

/// `validateDownwardAPIVolumeSource`; upstream leaves the files' indexes out of paths.
pub(super) fn validate_downward_api(v: &mut Validation<'_>, path: &Path<'_>, source: &DownwardAPIVolumeSource) {
    validate_file_mode(v, &path.child("defaultMode"), source.default_mode);
    for file in &source.items {
        validate_downward_api_file(v, path, file);
    }
}

/// `validateDownwardAPIVolumeFile`
pub(super) fn validate_downward_api_file(v: &mut Validation<'_>, path: &Path<'_>, file: &DownwardAPIVolumeFile) {
    v.filled(&path.child("path"), &file.path);
    validate_volume_path(v, &path.child("path"), &file.path);
    match (file.field_ref.as_deref(), file.resource_field_ref.as_deref()) {
        (Some(field), resource) => {
            validate_field_ref(v, &path.child("fieldRef"), field, &VOLUME_FIELDS);
            if resource.is_some() {
                v.invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
            }
        }
        (None, Some(resource)) => validate_resource_field_ref(v, &path.child("resourceFieldRef"), resource, true),
        (None, None) => v.required(path, "one of fieldRef and resourceFieldRef is required"),
    }
    validate_file_mode(v, &path.child("mode"), file.mode);
}

/// The files of one volume, to see that no two have the same path.
#[derive(Default)]
pub(super) struct Files<'a>(BTreeSet<&'a str>);

impl<'a> Files<'a> {
    /// Takes a file; `shown` is the value that a conflict is shown with.
    pub fn add(&mut self, v: &mut Validation<'_>, path: &Path<'_>, file: &'a str, shown: &str) {
        if !self.0.insert(file) {
            v.invalid(path, shown, "conflicting duplicate paths");
        }
    }
}
