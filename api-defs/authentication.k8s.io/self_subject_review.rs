use crate::meta::ObjectMeta;

/// Reports your identity as seen by the API server, like `kubectl auth whoami`.
#[kind(plural = "selfsubjectreviews", scope = Cluster, verbs(create), virtual)]
#[versions(v1(introduced = "1.28"), v1beta1(introduced = "1.27"), v1alpha1(introduced = "1.26"))]
pub struct SelfSubjectReview {
    /// Ordinary object metadata, normally left empty as nothing is stored.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Filled in by the server with your identity.
    #[field(2)]
    pub status: SelfSubjectReviewStatus,
}

/// The caller's identity as resolved by the API server.
pub struct SelfSubjectReviewStatus {
    /// Your username, uid, groups and extra attributes.
    #[field(1)]
    pub user_info: UserInfo,
}

mod v1beta1 {
    #[differs(SelfSubjectReviewStatus)]
    struct SelfSubjectReviewStatus {
        /// Your username, uid, groups and extra attributes.
        #[field(1)]
        user_info: crate::authentication::v1::UserInfo,
    }
}
