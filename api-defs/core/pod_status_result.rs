use crate::meta::ObjectMeta;

/// Wraps pod status for static pods reported by old kubelets.
#[kind]
#[versions(v1(introduced = "1.0"))]
pub struct PodStatusResult {
    /// Identity of the pod whose status this is.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Wrapped status of that pod.
    #[field(2)]
    pub status: PodStatus,
}
