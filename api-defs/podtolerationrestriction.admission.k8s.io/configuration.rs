//! Configuration of the admission plugin `PodTolerationRestriction`.

use crate::core::Toleration;

/// Tolerations for namespaces whose annotations do not specify any.
#[kind]
#[versions(v1alpha1)]
#[proto(none)]
pub struct Configuration {
    /// Tolerations to add to new pods.
    #[field(json_only, list = atomic)]
    pub default: Vec<Toleration>,

    /// Tolerations that pods may have; all are allowed when empty.
    #[field(json_only, list = atomic)]
    pub whitelist: Vec<Toleration>,
}
