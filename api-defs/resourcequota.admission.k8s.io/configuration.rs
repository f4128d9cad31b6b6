//! Configuration of the admission plugin `ResourceQuota`.

use crate::core::ScopedResourceSelectorRequirement;

/// Resources whose use requires a quota that covers them.
#[kind]
#[versions(v1beta1, v1alpha1)]
#[proto(none)]
pub struct Configuration {
    /// Resources that may not be used without a quota.
    #[field(json_only, list = atomic)]
    pub limited_resources: Vec<LimitedResource>,
}

/// A resource, and the part of its use that a quota has to cover.
#[proto(none)]
pub struct LimitedResource {
    /// API group of the objects; omit for core kinds.
    #[field(json_only)]
    pub api_group: String,

    /// Plural name of the objects.
    #[field(json_only, required)]
    pub resource: String,

    /// Substrings of quota resource names; a quota has to cover the use of matching resources.
    #[field(json_only, list = atomic)]
    pub match_contains: Vec<String>,

    /// Scopes; a quota has to cover each object that matches one of them.
    #[field(json_only, list = atomic)]
    pub match_scopes: Vec<ScopedResourceSelectorRequirement>,
}
