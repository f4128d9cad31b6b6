use crate::meta::{GroupVersionKind, ObjectMeta};

/// Aggregated discovery entry for an API group with all of its versions.
#[kind(list)]
#[versions(v2(introduced = "1.30"), v2beta1(introduced = "1.26", deprecated = "1.32", removed = "1.35"))]
pub struct APIGroupDiscovery {
    /// Carries the API group's name; blank for the legacy core group.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Versions the group offers, sorted so the preferred one comes first.
    #[field(2, list = map(version))]
    pub versions: Vec<APIVersionDiscovery>,
}

/// Resources served under a single version of a group.
pub struct APIVersionDiscovery {
    /// Version string inside the group, such as `v1` or `v1beta1`.
    #[field(1, required)]
    pub version: String,

    /// Every resource type this version serves.
    #[field(2, list = map(resource))]
    pub resources: Vec<APIResourceDiscovery>,

    /// Reads `Stale` when an aggregated server was unreachable and cached data is shown.
    #[field(3)]
    pub freshness: DiscoveryFreshness,
}

/// Describes one resource type a group version serves.
pub struct APIResourceDiscovery {
    /// Plural resource name as used in URLs, such as `deployments`.
    #[field(1, required)]
    pub resource: String,

    /// Group, version and kind that calls to this resource normally return.
    #[field(2)]
    pub response_kind: Option<GroupVersionKind>,

    /// Whether objects live in a namespace or at cluster level.
    #[field(3, required)]
    pub scope: ResourceScope,

    /// Singular form accepted by command-line tools, such as `deployment`.
    #[field(4, required)]
    pub singular_resource: String,

    /// Actions the resource supports, such as `get`, `list` and `watch`.
    #[field(5, required, list = set)]
    pub verbs: Vec<String>,

    /// Abbreviations that `kubectl` accepts, like `deploy` or `po`.
    #[field(6, list = set)]
    pub short_names: Vec<String>,

    /// Groupings the resource belongs to, such as `all` for `kubectl get all`.
    #[field(7, list = set)]
    pub categories: Vec<String>,

    /// Child endpoints of the resource, like `status` and `scale`.
    #[field(8, list = map(subresource))]
    pub subresources: Vec<APISubresourceDiscovery>,
}

/// Namespaced or cluster-wide placement of a discovered resource.
#[open]
pub enum ResourceScope {
    Cluster,
    Namespaced,
}

/// Describes one child endpoint beneath a resource.
pub struct APISubresourceDiscovery {
    /// Trailing path element of the endpoint, e.g. `log` or `eviction`.
    #[field(1, required)]
    pub subresource: String,

    /// Type the subresource returns; may be missing for non-object replies like logs.
    #[field(2)]
    pub response_kind: Option<GroupVersionKind>,

    /// Payload types the subresource takes when they differ from its response.
    #[field(3, list = map(group, version, kind))]
    pub accepted_types: Vec<GroupVersionKind>,

    /// Actions the subresource supports, such as `get`, `patch` and `update`.
    #[field(4, required, list = set)]
    pub verbs: Vec<String>,
}

/// Whether discovery data was fetched recently or comes from an outdated copy.
#[open]
pub enum DiscoveryFreshness {
    Current,
    Stale,
}
