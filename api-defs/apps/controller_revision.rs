use crate::meta::ObjectMeta;

/// Immutable snapshot of a StatefulSet or DaemonSet template, kept for rollbacks.
#[kind(plural = "controllerrevisions", scope = Namespaced, metadata = both)]
#[versions(
    v1(introduced = "1.9"),
    v1beta2(introduced = "1.8", deprecated = "1.9", removed = "1.16", replacement = "apps/v1 ControllerRevision"),
    v1beta1(introduced = "1.7", deprecated = "1.8", removed = "1.16", replacement = "apps/v1 ControllerRevision")
)]
#[column("Controller", by_hand = controller_revision_controller, reads(metadata.ownerReferences), "Kind and name of the controller that the revision belongs to.")]
#[column("Revision", revision)]
#[column("Age", age)]
#[check(revision, not_negative)]
#[check(data, required = "data is mandatory", when(create))]
#[check(
    data,
    missing = "data must be a valid JSON object",
    when(create, set(data), not(matches(data, r"^\s*\{")))
)]
#[check(data, immutable)]
pub struct ControllerRevision {
    /// Name and owner of the snapshot; the owning controller creates it.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Serialized template state as captured at this revision.
    #[field(2, always)]
    pub data: RawExtension,

    /// Sequence number of the snapshot; a higher number is newer.
    #[field(3, required)]
    pub revision: i64,
}
