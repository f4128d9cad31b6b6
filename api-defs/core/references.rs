/// Reference by name to an object in the current namespace.
#[structure(atomic)]
pub struct LocalObjectReference {
    /// Object to look up; the kind is implied by context.
    #[field(1, default = "")]
    pub name: String,
}

/// General-purpose pointer to an object or part of one.
#[structure(atomic)]
pub struct ObjectReference {
    /// Kind of the object pointed at.
    #[field(1)]
    pub kind: String,

    /// Namespace holding that object; blank for cluster-scoped kinds.
    #[field(2)]
    pub namespace: String,

    /// Name of the object pointed at.
    #[field(3)]
    pub name: String,

    /// UID that pins the reference to one exact incarnation.
    #[field(4, go = "types.UID")]
    pub uid: String,

    /// API group and version of the target, e.g. `apps/v1`.
    #[field(5)]
    pub api_version: String,

    /// Exact revision the reference was made against, when recorded.
    #[field(6)]
    pub resource_version: String,

    /// Narrows the reference to a piece, like `spec.containers{web}`.
    #[field(7)]
    pub field_path: String,
}

/// Requirements that must hold before an operation goes ahead.
#[versions(v1)]
pub struct Preconditions {
    /// Proceeds only if the object still has this UID.
    #[field(1, go = "types.UID")]
    pub uid: Option<String>,
}

/// Points to a Secret in any namespace.
#[structure(atomic)]
#[check(name, required, name = dns1123_subdomain)]
#[check(namespace, required, name = dns1123_label)]
pub struct SecretReference {
    /// Name of the Secret being pointed to; unique in its namespace.
    #[field(1)]
    pub name: String,

    /// Namespace in which the Secret is found.
    #[field(2)]
    pub namespace: String,
}

/// Reference to an object of a stated kind in the same namespace.
#[structure(atomic)]
#[check(name, filled)]
#[check(kind, filled)]
#[check(
    kind,
    at(".", invalid = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"),
    when(apiGroup = "", not(kind = PersistentVolumeClaim))
)]
#[check(apiGroup, format = dns1123_subdomain, when(not(apiGroup = ""), not(option(any_api_group))))]
pub struct TypedLocalObjectReference {
    /// Group of the target; omit for core kinds.
    #[field(1, always)]
    pub api_group: Option<String>,

    /// Kind of the target, e.g. `VolumeSnapshot`.
    #[field(2, required)]
    pub kind: String,

    /// Name of the target in this namespace.
    #[field(3, required)]
    pub name: String,
}

/// Reference to an object of a stated kind, possibly in another namespace.
#[check(name, filled)]
#[check(kind, filled)]
#[check(
    kind,
    at(".", invalid = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"),
    when(apiGroup = "", not(kind = PersistentVolumeClaim))
)]
#[check(apiGroup, format = dns1123_subdomain, when(not(apiGroup = ""), not(option(any_api_group))))]
#[check(namespace, name = dns1123_label, when(not(namespace = "")))]
pub struct TypedObjectReference {
    /// Group the target kind belongs to; omit for core kinds.
    #[field(1, always)]
    pub api_group: Option<String>,

    /// Kind of object that is meant.
    #[field(2, required)]
    pub kind: String,

    /// Name of the object that is meant.
    #[field(3, required)]
    pub name: String,

    /// Target's namespace; crossing namespaces needs a ReferenceGrant there.
    #[field(4)]
    pub namespace: Option<String>,
}
