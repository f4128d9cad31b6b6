/// API group and kind without a version.
#[versions(v1)]
pub struct GroupKind {
    /// Group part; empty for core types.
    #[field(1, required)]
    pub group: String,

    /// Kind part of the pair, like `Deployment`.
    #[field(2, required)]
    pub kind: String,
}

/// API group and plural resource without a version.
pub struct GroupResource {
    /// Group that owns the resource; empty for core.
    #[field(1, required)]
    pub group: String,

    /// Plural resource name, like `deployments`.
    #[field(2, required)]
    pub resource: String,
}

/// API group together with one of its versions.
#[versions(v1)]
pub struct GroupVersion {
    /// Group portion of the pair; core leaves it empty.
    #[field(1, required)]
    pub group: String,

    /// Version portion of the pair, such as `v1beta1`.
    #[field(2, required)]
    pub version: String,
}

/// Fully qualified type identity: group, version and kind.
pub struct GroupVersionKind {
    /// Group owning the type; empty denotes core.
    #[field(1, required)]
    pub group: String,

    /// Version in which the type is expressed.
    #[field(2, required)]
    pub version: String,

    /// Type name within the group, capitalised and singular.
    #[field(3, required)]
    pub kind: String,
}

/// Fully qualified resource identity, enough to build a request URL.
pub struct GroupVersionResource {
    /// Group serving the resource, empty for core.
    #[field(1, required)]
    pub group: String,

    /// Version used when addressing the resource.
    #[field(2, required)]
    pub version: String,

    /// Lowercase plural name appearing in the URL.
    #[field(3, required)]
    pub resource: String,
}

/// Placeholder for a patch body; actual layout depends on the content type.
#[versions(v1)]
pub struct Patch {}
