use crate::meta::ObjectMeta;

/// Checks whether you may perform an action, as `kubectl auth can-i` does.
#[kind(plural = "selfsubjectaccessreviews", scope = Cluster, verbs(create), virtual)]
#[versions(
    v1(introduced = "1.19"),
    v1beta1(introduced = "1.2", deprecated = "1.19", replacement = "authorization.k8s.io/v1 SelfSubjectAccessReview")
)]
pub struct SelfSubjectAccessReview {
    /// Ordinary object metadata, ignored since self checks are not persisted.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Action you want checked against your own permissions.
    #[field(2, required)]
    pub spec: SelfSubjectAccessReviewSpec,

    /// Decision about your own access.
    #[field(3)]
    pub status: SubjectAccessReviewStatus,
}

/// Action to check; set precisely one of the two attribute blocks.
pub struct SelfSubjectAccessReviewSpec {
    /// Action on an API resource to check for yourself.
    #[field(1)]
    pub resource_attributes: Option<ResourceAttributes>,

    /// Access to a plain URL path to check for yourself.
    #[field(2)]
    pub non_resource_attributes: Option<NonResourceAttributes>,
}
