use crate::meta::{DeleteOptions, ObjectMeta};

/// Requests graceful pod removal that respects disruption budgets, as `kubectl drain` does.
#[kind]
#[versions(v1(introduced = "1.22"), v1beta1(introduced = "1.5", deprecated = "1.22"))]
pub struct Eviction {
    /// Name and namespace of the pod being evicted.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Delete settings such as grace period, or `dryRun` for a rehearsal.
    #[field(2)]
    pub delete_options: Option<DeleteOptions>,
}
