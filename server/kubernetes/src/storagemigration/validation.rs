//! What upstream checks by hand in migrations of stored objects (`pkg/apis/storagemigration/validation`).

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format;
use machinery::hooks::Validation;
use machinery::reflect::Ref;
use meta::validate_conditions;

use crate::core::internal::{internal_value, internal_values};
use generated::storagemigration::v1beta1::{StorageVersionMigration, StorageVersionMigrationStatus};

const IMMUTABLE: &str = "field is immutable";

/// `ValidateStorageVersionMigration`, `ValidateStorageVersionMigrationUpdate`, `ValidateStorageVersionMigrationStatusUpdate`
pub fn validate_storage_version_migration(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &StorageVersionMigration,
    old: Option<&StorageVersionMigration>,
) {
    let spec = path.child("spec");
    match old {
        Some(old) if v.context.subresource == "status" => {
            return validate_status(v, &path.child("status"), &new.status, &old.status);
        }
        _ => validate_resource(v, &spec.child("resource"), &new.spec.resource),
    }
    if old.is_some_and(|old| Ref::of(&old.spec) != Ref::of(&new.spec)) {
        v.invalid(&spec, internal_value(&new.spec), IMMUTABLE);
    }
}

fn validate_resource(v: &mut Validation<'_>, path: &Path<'_>, of: &apimachinery::meta::v1::GroupResource) {
    let (resource, group) = (path.child("resource"), path.child("group"));
    if of.resource.is_empty() {
        v.required(&resource, "resource is required to be set");
    } else {
        validate_joined(v, &resource, &of.resource, &format::is_dns1035_label(&of.resource));
    }
    if !of.group.is_empty() {
        validate_joined(v, &group, &of.group, &format::is_dns1123_subdomain(&of.group));
    }
}

fn validate_joined(v: &mut Validation<'_>, path: &Path<'_>, value: &str, messages: &format::Messages) {
    if !messages.is_empty() {
        v.invalid(path, value, messages.join(","));
    }
}

/// How a migration ended stays.
fn validate_status(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &StorageVersionMigrationStatus,
    old: &StorageVersionMigrationStatus,
) {
    let (version_path, conditions) = (path.child("resourceVersion"), path.child("conditions"));
    let version = new.resource_version.as_str();
    if !version.is_empty() && !is_resource_version(version) {
        v.invalid(&version_path, version, format!("resource version is not well formed: {version}"));
    }
    validate_conditions(v, &conditions, &new.conditions);
    if !old.resource_version.is_empty() && old.resource_version != version {
        v.invalid(&version_path, version, IMMUTABLE);
    }
    let shown: fn(&StorageVersionMigrationStatus) -> BadValue = |status| internal_values(&status.conditions);
    if is(new, "Succeeded") && is(new, "Failed") {
        v.invalid(&conditions, shown(new), "Both success and failed conditions cannot be true at the same time");
    }
    for (kind, name) in [("Succeeded", "Success"), ("Failed", "Failed")] {
        if is(old, kind) && !is(new, kind) {
            v.invalid(&conditions, shown(new), format!("{name} condition cannot be set to false once it is true"));
        }
    }
}

/// `resourceversion.isWellFormed`
fn is_resource_version(text: &str) -> bool {
    !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is(status: &StorageVersionMigrationStatus, kind: &str) -> bool {
    status.conditions.iter().find(|condition| condition.r#type == kind).is_some_and(|found| found.status == "True")
}
