use crate::meta::ObjectMeta;

/// Checks whether a user may do something within one namespace.
#[kind(plural = "localsubjectaccessreviews", scope = Namespaced, verbs(create), virtual)]
#[versions(
    v1(introduced = "1.19"),
    v1beta1(introduced = "1.2", deprecated = "1.19", replacement = "authorization.k8s.io/v1 LocalSubjectAccessReview")
)]
pub struct LocalSubjectAccessReview {
    /// Object metadata whose namespace must agree with the one under review.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// User and action to check; the namespace has to equal this object's.
    #[field(2, required)]
    pub spec: SubjectAccessReviewSpec,

    /// Decision for the namespaced check.
    #[field(3)]
    pub status: SubjectAccessReviewStatus,
}
