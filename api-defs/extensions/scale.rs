use crate::meta::ObjectMeta;

/// Replica count view used by the `scale` subresource of legacy workloads.
#[kind]
#[versions(v1beta1(introduced = "1.1", deprecated = "1.2", removed = "1.16"))]
pub struct Scale {
    /// Identity of the scaled object, including its resource version.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Carries the replica count being requested.
    #[field(2)]
    pub spec: ScaleSpec,

    /// Carries the replica count actually observed.
    #[field(3)]
    pub status: ScaleStatus,
}

/// Requested size of a scalable workload.
pub struct ScaleSpec {
    /// Pod count to scale to; zero is permitted.
    #[field(1, default = 0)]
    pub replicas: i32,
}

/// Observed size and pod selector of a scalable workload.
pub struct ScaleStatus {
    /// Pods the workload has right now.
    #[field(1, required)]
    pub replicas: i32,

    /// Equality-only label map matching the workload's pods.
    #[field(2, map = atomic)]
    pub selector: Map<String, String>,

    /// Pod selector in string form, needed when it goes beyond plain equality.
    #[field(3)]
    pub target_selector: String,
}
