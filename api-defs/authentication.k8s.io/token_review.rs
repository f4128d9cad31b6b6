use crate::meta::ObjectMeta;

/// Verifies a bearer token.
#[kind(plural = "tokenreviews", scope = Cluster, verbs(create), virtual)]
#[versions(
    v1(introduced = "1.6"),
    v1beta1(introduced = "1.4", deprecated = "1.19", replacement = "authentication.k8s.io/v1 TokenReview")
)]
pub struct TokenReview {
    /// Ordinary object metadata, unused because reviews are never persisted.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Token to verify and the audiences expected.
    #[field(2, required)]
    pub spec: TokenReviewSpec,

    /// Verification result and the identity behind the token.
    #[field(3)]
    pub status: TokenReviewStatus,
}

/// Input for verifying a token.
pub struct TokenReviewSpec {
    /// Opaque bearer token to be checked.
    #[field(1, required, omitempty)]
    pub token: String,

    /// Audiences of the requesting service; empty means those of the API server.
    #[field(2, list = atomic)]
    pub audiences: Vec<String>,
}

/// Result of verifying a token.
pub struct TokenReviewStatus {
    /// True when the token is valid and belongs to a known user.
    #[field(1)]
    pub authenticated: bool,

    /// Identity the token represents, present when verification succeeds.
    #[field(2)]
    pub user: UserInfo,

    /// Requested audiences the token is valid for; check yours is listed.
    #[field(4, list = atomic)]
    pub audiences: Vec<String>,

    /// Explanation when the token could not be checked.
    #[field(3)]
    pub error: String,
}
