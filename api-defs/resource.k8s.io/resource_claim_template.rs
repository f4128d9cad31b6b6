use crate::meta::ObjectMeta;

/// Blueprint from which each pod receives its own ResourceClaim.
#[kind(plural = "resourceclaimtemplates", scope = Namespaced, delete_returns_object, metadata = whole)]
#[versions(v1(introduced = "1.34"), v1beta2(introduced = "1.33"), v1beta1(introduced = "1.32"))]
#[column("Age", age)]
#[check(spec.metadata, by_hand = validate_template_meta)]
#[check(spec.spec.devices, by_hand = choose_device_requests, below)]
#[check(metadata, by_hand = validate_whole_metadata_update, when(update))]
#[check(spec, immutable)]
pub struct ResourceClaimTemplate {
    /// Name, namespace and labels of the blueprint itself.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Contents of the claims to generate; immutable.
    #[field(2, required)]
    pub spec: ResourceClaimTemplateSpec,
}

/// Metadata and body copied into generated claims.
pub struct ResourceClaimTemplateSpec {
    /// Labels and annotations copied onto generated claims; other fields are rejected.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Device requirements copied unchanged into each claim.
    #[field(2, required)]
    pub spec: ResourceClaimSpec,
}
