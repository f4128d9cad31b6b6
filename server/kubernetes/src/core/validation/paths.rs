//! Paths of files, as pods name them.

use machinery::field_path::Path;
use machinery::hooks::Validation;

/// A path within a directory (`validateLocalDescendingPath`).
pub(super) fn validate_relative_path(v: &mut Validation<'_>, path: &Path<'_>, target: &str) {
    if target.starts_with('/') {
        v.invalid(path, target, "must be a relative path");
    }
    validate_no_backsteps(v, path, target);
}

/// `validatePathNoBacksteps`
pub fn validate_no_backsteps(v: &mut Validation<'_>, path: &Path<'_>, target: &str) {
    if has_backsteps(target) {
        v.invalid(path, target, "must not contain '..'");
    }
}

/// Whether a path leads out of where it starts.
pub(super) fn has_backsteps(target: &str) -> bool {
    target.split('/').any(|part| part == "..")
}

/// A path in a volume; names that start with two dots are the kubelet's (`ValidateLocalNonReservedPath`).
pub(super) fn validate_volume_path(v: &mut Validation<'_>, path: &Path<'_>, target: &str) {
    validate_relative_path(v, path, target);
    if is_reserved(target) {
        v.invalid(path, target, "must not start with '..'");
    }
}

/// Whether [`validate_volume_path`] has nothing to say.
pub(super) fn is_volume_path(target: &str) -> bool {
    !target.starts_with('/') && !has_backsteps(target) && !is_reserved(target)
}

fn is_reserved(target: &str) -> bool {
    target.starts_with("..") && !target.starts_with("../")
}

/// The mode of a file.
pub(super) fn validate_file_mode(v: &mut Validation<'_>, path: &Path<'_>, mode: Option<i32>) {
    if let Some(mode) = mode.filter(|mode| !(0..=0o777).contains(mode)) {
        v.invalid(path, mode, "must be a number between 0 and 0777 (octal), both inclusive");
    }
}
