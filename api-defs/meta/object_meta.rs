/// Any object reduced to its type and metadata, saving bandwidth.
#[kind]
#[versions(v1, v1beta1)]
pub struct PartialObjectMetadata {
    /// Complete metadata of the underlying object.
    #[field(1)]
    pub metadata: ObjectMeta,
}

/// Identity, ownership and bookkeeping data carried by every stored object.
#[direct]
pub struct ObjectMeta {
    /// Unique within its namespace and type; cannot be changed after creation.
    #[field(1)]
    pub name: String,

    /// Prefix to which the server appends random characters if `name` is missing.
    #[field(2)]
    pub generate_name: String,

    /// Namespace holding the object; empty for cluster-scoped types.
    #[field(3)]
    pub namespace: String,

    /// Obsolete URL field that the server stopped filling.
    #[field(4, deprecated)]
    pub self_link: String,

    /// Server-assigned identifier, never reused even if the name is.
    #[field(5, go = "types.UID")]
    pub uid: String,

    /// Opaque change marker for watches and optimistic locking; compare only for equality.
    #[field(6)]
    pub resource_version: String,

    /// Counter the server raises whenever the desired state changes.
    #[field(7)]
    pub generation: i64,

    /// CreationTimestamp is a timestamp of when the server accepted the object, in UTC; read-only.
    #[field(8)]
    pub creation_timestamp: Time,

    /// Set upon a graceful delete request; removal follows once finalizers clear.
    #[field(9)]
    pub deletion_timestamp: Option<Time>,

    /// Seconds the object gets to shut down; can only be shortened.
    #[field(10)]
    pub deletion_grace_period_seconds: Option<i64>,

    /// Short key-value tags for selecting and grouping; values hold up to 63 characters.
    #[field(11)]
    pub labels: Map<String, String>,

    /// Free-form metadata for tools, not selectable; 256 KiB total limit.
    #[field(12)]
    pub annotations: Map<String, String>,

    /// Parents of this object; garbage collection removes it once none remain.
    #[allow(L013)]
    #[field(13, list = map(uid), patch = merge)]
    pub owner_references: Vec<OwnerReference>,

    /// Keys that block removal until responsible controllers delete them.
    #[field(14, list = set, patch = merge)]
    pub finalizers: Vec<String>,

    /// Field ownership per manager for server-side apply; hidden unless `--show-managed-fields` is given.
    #[field(17, list = atomic)]
    pub managed_fields: Vec<ManagedFieldsEntry>,
}

/// Link from a dependent to its owner, in the same namespace or cluster-scoped.
#[structure(atomic)]
pub struct OwnerReference {
    /// Group and version of the owner's type.
    #[field(5, required)]
    pub api_version: String,

    /// Owner's type name, for example `ReplicaSet`.
    #[field(1, required)]
    pub kind: String,

    /// Name of the owning object, case-sensitive.
    #[field(3, required)]
    pub name: String,

    /// Owner's unique identifier, which guards against same-name replacements.
    #[field(4, required, go = "types.UID")]
    pub uid: String,

    /// True for the single owner actively managing this object.
    #[field(6)]
    pub controller: Option<bool>,

    /// When true, foreground deletion of the owner waits until this dependent is gone.
    #[field(7)]
    pub block_owner_deletion: Option<bool>,
}

/// Ownership record: which fields one manager last set, and how.
pub struct ManagedFieldsEntry {
    /// Tool or controller owning these fields, for instance `kubectl`.
    #[field(1)]
    pub manager: String,

    /// Whether ownership came from server-side apply or an ordinary write.
    #[field(2)]
    pub operation: ManagedFieldsOperationType,

    /// Version in which the field paths are expressed.
    #[field(3)]
    pub api_version: String,

    /// When the manager last added fields, changed values, or gave up ownership.
    #[field(4)]
    pub time: Option<Time>,

    /// Encoding of the field set; `FieldsV1` is the only value.
    #[field(6)]
    pub fields_type: String,

    /// The owned field paths themselves.
    #[field(7)]
    pub fields_v1: Option<FieldsV1>,

    /// Subresource written through, such as `status`; empty for the main resource.
    #[field(8)]
    pub subresource: String,
}

/// Distinguishes server-side apply ownership from ownership gained by ordinary writes.
#[open]
pub enum ManagedFieldsOperationType {
    Apply,
    Update,
}

/// A list of objects reduced to their metadata.
#[kind]
#[versions(v1, v1beta1)]
pub struct PartialObjectMetadataList {
    /// Metadata of the list.
    #[field(1)]
    pub metadata: ListMeta,

    /// The objects, each with its metadata alone.
    #[field(2, required)]
    pub items: Vec<PartialObjectMetadata>,
}

mod v1beta1 {
    use v1::PartialObjectMetadata;

    #[differs(PartialObjectMetadataList)]
    struct PartialObjectMetadataList {
        /// Metadata of the list.
        #[field(2)]
        metadata: ListMeta,

        /// The objects, each with its metadata alone.
        #[field(1, required)]
        items: Vec<PartialObjectMetadata>,
    }
}
