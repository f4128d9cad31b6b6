//! Hand-written validation of storage version migrations that definitions cannot declare
//! (`pkg/apis/storagemigration/validation`).

use apimachinery::meta::v1::condition_status;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;

use super::{FAILED, SUCCEEDED};
use crate::core::internal::internal_values;
use generated::storagemigration::v1beta1::StorageVersionMigrationStatus;

/// Checks that a true final condition stays true, and that at most one is true. Hand-written, because
/// conditions are looked up by type.
pub fn validate_outcome(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &StorageVersionMigrationStatus,
    old: Option<&StorageVersionMigrationStatus>,
) {
    let mut refuse = |wrong: bool, detail: &'static str| {
        if wrong {
            v.invalid(
                &path.child(json_name!(StorageVersionMigrationStatus.conditions)),
                internal_values(&new.conditions),
                detail,
            );
        }
    };
    let changes = |kind: &str| old.is_some_and(|old| is(old, kind)) && !is(new, kind);
    let both = is(new, SUCCEEDED) && is(new, FAILED);
    refuse(both, "Both success and failed conditions cannot be true at the same time");
    refuse(changes(SUCCEEDED), "Success condition cannot be set to false once it is true");
    refuse(changes(FAILED), "Failed condition cannot be set to false once it is true");
}

fn is(status: &StorageVersionMigrationStatus, kind: &str) -> bool {
    status
        .conditions
        .iter()
        .find(|condition| condition.r#type == kind)
        .is_some_and(|found| found.status == condition_status::TRUE)
}
