//! What statuses of workloads have in common.

use machinery::field_path::Path;
use machinery::hooks::Validation;

use generated::apps::v1::{DaemonSetStatus, DeploymentStatus, StatefulSetStatus};

/// By hand: a number is compared with the stored one.
pub fn validate_collisions_of_daemon_set(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &DaemonSetStatus,
    old: Option<&DaemonSetStatus>,
) {
    validate_collisions(v, path, new.collision_count, old.and_then(|old| old.collision_count));
}

/// By hand: a number is compared with the stored one.
pub fn validate_collisions_of_deployment(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &DeploymentStatus,
    old: Option<&DeploymentStatus>,
) {
    validate_collisions(v, path, new.collision_count, old.and_then(|old| old.collision_count));
}

/// By hand: a number is compared with the stored one.
pub fn validate_collisions_of_stateful_set(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &StatefulSetStatus,
    old: Option<&StatefulSetStatus>,
) {
    validate_collisions(v, path, new.collision_count, old.and_then(|old| old.collision_count));
}

/// A count of hash collisions goes up only, as the names of what was made depend on it.
fn validate_collisions(v: &mut Validation<'_>, path: &Path<'_>, new: Option<i32>, old: Option<i32>) {
    if let Some(old) = old
        && new.is_none_or(|new| new < old)
    {
        v.invalid(&path.child("collisionCount"), new.unwrap_or(0), "cannot be decremented");
    }
}
