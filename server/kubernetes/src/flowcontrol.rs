//! Hand-written functions that definitions of `flowcontrol` refer to.

use generated::flowcontrol::{v1, v1beta3};

mod columns;
mod validation;

pub use columns::*;
pub use validation::*;

/// Annotation that distinguishes an explicit 0 from an absent field in v1beta3 (KEP-1040).
const PRESERVE_ZERO: &str = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";

/// Default shares of a priority level.
const CONCURRENCY_SHARES: i32 = 30;

/// Mirrors `SetDefaults_PriorityLevelConfiguration` of v1beta3.
pub fn default_v1beta3_priority_level_configuration(level: &mut v1beta3::PriorityLevelConfiguration) {
    let preserve = level.metadata.annotations.contains_key(PRESERVE_ZERO);
    if let Some(limited) = level.spec.limited.as_mut().filter(|l| l.nominal_concurrency_shares == 0 && !preserve) {
        limited.nominal_concurrency_shares = CONCURRENCY_SHARES;
    }
}

/// Removes the annotation: the hub has an optional field.
pub fn v1beta3_priority_level_configuration_to_hub(
    _: &mut v1beta3::PriorityLevelConfiguration,
    to: &mut v1::PriorityLevelConfiguration,
) {
    to.metadata.annotations.remove(PRESERVE_ZERO);
}

/// Writes the annotation for an explicit 0.
pub fn v1beta3_priority_level_configuration_from_hub(
    _: &mut v1::PriorityLevelConfiguration,
    to: &mut v1beta3::PriorityLevelConfiguration,
) {
    if to.spec.limited.as_ref().is_some_and(|limited| limited.nominal_concurrency_shares == 0) {
        to.metadata.annotations.entry(PRESERVE_ZERO.to_owned()).or_default();
    }
}
