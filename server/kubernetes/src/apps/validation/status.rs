//! What statuses of workloads have in common.

use machinery::field_path::Path;
use machinery::hooks::Validation;

const MORE_THAN_ALL: &str = "cannot be greater than status.replicas";

/// Numbers that count something.
pub(super) fn validate_counts(v: &mut Validation<'_>, path: &Path<'_>, counts: &[(&str, Option<i64>)]) {
    for (field, count) in counts {
        if let Some(count) = count {
            v.not_negative(&path.child(field), *count);
        }
    }
}

/// Numbers of some of the replicas.
pub(super) fn validate_parts(v: &mut Validation<'_>, path: &Path<'_>, all: i32, parts: &[(&str, i32)]) {
    for (field, part) in parts {
        if *part > all {
            v.invalid(&path.child(field), *part, MORE_THAN_ALL);
        }
    }
}

/// Available replicas are among the ready ones, which the message calls `ready_name`.
pub(super) fn validate_available(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    available: i32,
    (ready_name, ready): (&str, i32),
) {
    if available > ready {
        v.invalid(&path.child("availableReplicas"), available, format!("cannot be greater than {ready_name}"));
    }
}

/// A count of hash collisions goes up only, as the names of what was made depend on it.
pub(super) fn validate_collisions(v: &mut Validation<'_>, path: &Path<'_>, new: Option<i32>, old: Option<i32>) {
    if let Some(old) = old
        && new.is_none_or(|new| new < old)
    {
        v.invalid(&path.child("collisionCount"), new.unwrap_or(0), "cannot be decremented");
    }
}
