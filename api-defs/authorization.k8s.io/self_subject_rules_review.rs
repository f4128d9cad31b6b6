use crate::meta::ObjectMeta;

/// Lists what you may do in a namespace, as `kubectl auth can-i --list` does.
#[kind(plural = "selfsubjectrulesreviews", scope = Cluster, verbs(create), virtual)]
#[versions(
    v1(introduced = "1.19"),
    v1beta1(introduced = "1.8", deprecated = "1.19", replacement = "authorization.k8s.io/v1 SelfSubjectRulesReview")
)]
pub struct SelfSubjectRulesReview {
    /// Ordinary object metadata, ignored since rule listings are not persisted.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Names the namespace whose permissions you want listed.
    #[field(2, required)]
    pub spec: SelfSubjectRulesReviewSpec,

    /// Your permissions, as far as the server could determine them.
    #[field(3)]
    pub status: SubjectRulesReviewStatus,
}

/// Input for listing your own permissions.
pub struct SelfSubjectRulesReviewSpec {
    /// Namespace to list permissions for; required.
    #[field(1)]
    pub namespace: String,
}

/// Permissions found for a subject in a namespace.
pub struct SubjectRulesReviewStatus {
    /// Permitted actions on API resources, in no meaningful order.
    #[field(1, required, list = atomic)]
    pub resource_rules: Vec<ResourceRule>,

    /// Permitted plain URL paths, in no meaningful order.
    #[field(2, required, list = atomic)]
    pub non_resource_rules: Vec<NonResourceRule>,

    /// True when the listing misses something, e.g. with webhook authorizers.
    #[field(3, required)]
    pub incomplete: bool,

    /// Why the listing is partial, e.g. an authorizer cannot enumerate rules.
    #[field(4)]
    pub evaluation_error: String,
}

/// Permission on API resources, as listed in a rules review.
pub struct ResourceRule {
    /// Actions permitted on the resources; `*` is all of them.
    #[field(1, required, list = atomic)]
    pub verbs: Vec<String>,

    /// API groups the permission extends to; `*` is all of them.
    #[field(2, list = atomic)]
    pub api_groups: Vec<String>,

    /// Resource types permitted; `*` is everything, `*/foo` any `foo` subresource.
    #[field(3, list = atomic)]
    pub resources: Vec<String>,

    /// Object names the permission is confined to; empty means unrestricted.
    #[field(4, list = atomic)]
    pub resource_names: Vec<String>,
}

/// Permission on plain URL paths.
pub struct NonResourceRule {
    /// HTTP methods permitted on the paths; `*` is all of them.
    #[field(1, required, list = atomic)]
    pub verbs: Vec<String>,

    /// Paths permitted; `*` may replace the whole path or its last segment.
    #[field(2, list = atomic)]
    pub non_resource_urls: Vec<String>,
}
