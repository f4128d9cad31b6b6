use crate::meta::ObjectMeta;

/// Checks with an image policy webhook whether a pod may use its images.
#[kind]
#[versions(v1alpha1)]
pub struct ImageReview {
    /// Unused by most webhooks; the review is never persisted.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Pod images and context submitted for a verdict.
    #[field(2)]
    pub spec: ImageReviewSpec,

    /// Verdict filled in by the webhook.
    #[field(3)]
    pub status: ImageReviewStatus,
}

/// Facts about the pod that the webhook bases its decision on.
pub struct ImageReviewSpec {
    /// Images to judge, one entry per container in the pod.
    #[field(1, list = atomic)]
    pub containers: Vec<ImageReviewContainerSpec>,

    /// Pod annotations whose keys fit `*.image-policy.k8s.io/*`, passed on as hints.
    #[field(2)]
    pub annotations: Map<String, String>,

    /// Namespace where the pod would be created.
    #[field(3)]
    pub namespace: String,
}

/// Image information for one container of the reviewed pod.
pub struct ImageReviewContainerSpec {
    /// Image reference as written in the pod, with tag or `@sha256` digest.
    #[field(1)]
    pub image: String,
}

/// Webhook's answer, with optional explanation and audit data.
pub struct ImageReviewStatus {
    /// Set true to admit the pod; false rejects it.
    #[field(1, always)]
    pub allowed: bool,

    /// Short rejection text returned to the requester; normally empty when admitted.
    #[field(2)]
    pub reason: String,

    /// Key-value pairs the API server adds to its audit record, prefixed with the plugin name.
    #[field(3)]
    pub audit_annotations: Map<String, String>,
}
