use crate::meta::ObjectMeta;

/// Cluster-scoped record of one allocated Service IP, preventing double assignment.
#[kind(plural = "ipaddresses", short = "ip", scope = Cluster, name = ip_address, metadata = whole)]
#[versions(v1(introduced = "1.33"), v1beta1(introduced = "1.31"))]
#[column("ParentRef", by_hand = ip_address_parent_ref, reads(spec.parentRef), "The object that the address belongs to.")]
#[check(spec.parentRef, required, below)]
#[check(metadata, by_hand = validate_whole_metadata_update, when(update))]
#[check(spec.parentRef, immutable)]
pub struct IPAddress {
    /// Object identity, where the name is the IP in canonical form.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Object that holds this IP.
    #[field(2, required)]
    pub spec: IPAddressSpec,
}

/// Ownership data of an allocated IP.
pub struct IPAddressSpec {
    /// Object the IP was handed to, usually a Service; mandatory.
    #[field(1, required, omitempty)]
    pub parent_ref: Option<ParentReference>,
}

/// Points at the object that owns an allocated IP.
#[check(group, optional, format = dns1123_subdomain)]
#[check(resource, required, name = path_segment)]
#[check(name, required, name = path_segment)]
#[check(namespace, optional, name = path_segment)]
pub struct ParentReference {
    /// Owner's API group, empty when core.
    #[field(1)]
    pub group: String,

    /// Owner's plural resource name, such as `services`.
    #[field(2, required, omitempty)]
    pub resource: String,

    /// Owner's namespace, if it has one.
    #[field(3)]
    pub namespace: String,

    /// Name of the owning object; mandatory.
    #[field(4, required, omitempty)]
    pub name: String,
}
