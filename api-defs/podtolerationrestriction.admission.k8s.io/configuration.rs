//! The configuration of `PodTolerationRestriction`.

use crate::core::Toleration;

/// Tolerations of namespaces whose annotations say nothing of them.
#[kind]
#[versions(v1alpha1)]
#[proto(none)]
pub struct Configuration {
    /// What pods get that are created.
    #[field(json_only, list = atomic)]
    pub default: Vec<Toleration>,

    /// What pods may have; everything when it is empty.
    #[field(json_only, list = atomic)]
    pub whitelist: Vec<Toleration>,
}
