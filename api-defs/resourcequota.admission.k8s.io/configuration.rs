//! The configuration of `ResourceQuota`.

use crate::core::ScopedResourceSelectorRequirement;

/// Which resources are used only where a quota covers them.
#[kind]
#[versions(v1beta1, v1alpha1)]
#[proto(none)]
pub struct Configuration {
    /// Resources of which nothing may be used without a quota.
    #[field(json_only, list = atomic)]
    pub limited_resources: Vec<LimitedResource>,
}

/// A kind of object, and what of the objects a quota has to cover.
#[proto(none)]
pub struct LimitedResource {
    /// API group of the objects; omit for core kinds.
    #[field(json_only)]
    pub api_group: String,

    /// Plural name of the objects.
    #[field(json_only, required)]
    pub resource: String,

    /// Parts of names of quota resources: what is used of such a resource has to be covered.
    #[field(json_only, list = atomic)]
    pub match_contains: Vec<String>,

    /// Scopes of which a quota has to be there for an object in them.
    #[field(json_only, list = atomic)]
    pub match_scopes: Vec<ScopedResourceSelectorRequirement>,
}
