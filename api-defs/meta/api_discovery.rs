/// Discovery entry for one API group and the versions it serves.
#[kind]
#[versions(v1)]
pub struct APIGroup {
    /// Group name, for example `apps`; core has an empty name.
    #[field(1, required)]
    pub name: String,

    /// Every version of the group the server offers.
    #[field(2, required, list = atomic)]
    pub versions: Vec<GroupVersionForDiscovery>,

    /// Version clients should pick when they have no preference.
    #[field(3)]
    pub preferred_version: GroupVersionForDiscovery,

    /// Alternative server addresses depending on where the client connects from.
    #[field(4, list = atomic)]
    pub server_address_by_client_cidrs: Vec<ServerAddressByClientCIDR>,
}

/// Group version as listed in discovery, in combined and split form.
pub struct GroupVersionForDiscovery {
    /// Combined form, for example `apps/v1`.
    #[field(1, required)]
    pub group_version: String,

    /// Only the version, saving clients from splitting the combined form.
    #[field(2, required)]
    pub version: String,
}

/// Pairs a client IP range with the API server address it should use.
pub struct ServerAddressByClientCIDR {
    /// Client range that this address applies to.
    #[field(1, required)]
    pub client_cidr: String,

    /// Host, IP or `host:port` for clients in the range.
    #[field(2, required)]
    pub server_address: String,
}

/// Answer served at `/apis`, enumerating all named API groups.
#[kind]
#[versions(v1)]
pub struct APIGroupList {
    /// Discovery entries, one for each API group.
    #[field(1, required, list = atomic)]
    pub groups: Vec<APIGroup>,
}

/// Resources available in one group and version, served by discovery.
#[kind]
#[versions(v1)]
pub struct APIResourceList {
    /// Group and version covered, for example `batch/v1`.
    #[field(1, required)]
    pub group_version: String,

    /// Entries for each resource and subresource.
    #[field(2, required, list = atomic)]
    pub resources: Vec<APIResource>,
}

/// Discovery entry for one resource, as shown by `kubectl api-resources`.
pub struct APIResource {
    /// Plural name used in URLs; subresources appear as `pods/exec`.
    #[field(1, required)]
    pub name: String,

    /// Singular alias that command-line tools accept.
    #[field(6, required)]
    pub singular_name: String,

    /// True for resources living in namespaces, false for cluster-wide ones.
    #[field(2, required)]
    pub namespaced: bool,

    /// API group, given only if it differs from the enclosing list.
    #[field(8)]
    pub group: String,

    /// API version, given only if it differs from the enclosing list.
    #[field(9)]
    pub version: String,

    /// Type name of the objects handled by this resource.
    #[field(3, required)]
    pub kind: String,

    /// Operations supported, such as `get`, `list` and `watch`.
    #[field(4, required)]
    pub verbs: Verbs,

    /// Abbreviations like `po` or `deploy` for command-line use.
    #[field(5, list = atomic)]
    pub short_names: Vec<String>,

    /// Groupings the resource joins, for instance `all` in `kubectl get all`.
    #[field(7, list = atomic)]
    pub categories: Vec<String>,

    /// Opaque hash of the stored version; a changed value hints that migration is needed.
    #[field(10)]
    pub storage_version_hash: String,
}

/// Verbs that a resource knows, such as `get` and `watch`.
#[proto(items)]
pub struct Verbs {
    /// The values.
    #[field(1)]
    pub items: Vec<String>,
}

/// Answer served at `/api`, enumerating core API versions.
#[kind]
#[versions(v1)]
pub struct APIVersions {
    /// Core versions on offer; in practice just `v1`.
    #[field(1, required, list = atomic)]
    pub versions: Vec<String>,

    /// Server addresses to use, chosen by matching the client's IP range.
    #[field(2, required, list = atomic)]
    pub server_address_by_client_cidrs: Vec<ServerAddressByClientCIDR>,
}

/// Index of URL paths returned when querying the server root.
#[versions(v1)]
pub struct RootPaths {
    /// Available top-level paths, for instance `/apis` and `/metrics`.
    #[field(1, required, list = atomic)]
    pub paths: Vec<String>,
}
