/// Who is asked whether a request is allowed, in order (`--authorization-config`).
#[kind]
#[versions(v1, v1beta1, v1alpha1)]
#[proto(none)]
pub struct AuthorizationConfiguration {
    /// Authorizers; the first one with an opinion decides.
    #[field(json_only, required, list = atomic)]
    pub authorizers: Vec<AuthorizerConfiguration>,
}

/// One authorizer.
#[proto(none)]
pub struct AuthorizerConfiguration {
    /// `Webhook`, or one of the modes of `--authorization-mode`.
    #[field(json_only, required)]
    pub r#type: String,

    /// Tells authorizers apart in metrics; a DNS name.
    #[field(json_only, required)]
    pub name: String,

    /// Set with type `Webhook`, and only then.
    #[field(json_only)]
    pub webhook: Option<WebhookConfiguration>,
}

/// A server that is asked.
#[proto(none)]
pub struct WebhookConfiguration {
    /// For how long a permission counts; five minutes unless said.
    #[field(json_only, required, json = "authorizedTTL")]
    pub authorized_ttl: Duration,

    /// Whether permissions are remembered at all; true unless said.
    #[field(json_only)]
    pub cache_authorized_requests: Option<bool>,

    /// For how long a refusal counts; thirty seconds unless said.
    #[field(json_only, required, json = "unauthorizedTTL")]
    pub unauthorized_ttl: Duration,

    /// Whether refusals are remembered at all; true unless said.
    #[field(json_only)]
    pub cache_unauthorized_requests: Option<bool>,

    /// How long an answer may take; up to thirty seconds.
    #[field(json_only, required)]
    pub timeout: Duration,

    /// Version of the reviews that are sent: `v1` or `v1beta1`.
    #[field(json_only, required)]
    pub subject_access_review_version: String,

    /// Version of the review that match conditions look at: `v1`.
    #[field(json_only, required)]
    pub match_condition_subject_access_review_version: String,

    /// What no answer means: `NoOpinion` or `Deny`.
    #[field(json_only, required)]
    pub failure_policy: String,

    /// Where the server is.
    #[field(json_only, required)]
    pub connection_info: WebhookConnectionInfo,

    /// When the server is asked: if all of these hold.
    #[field(json_only, required, list = atomic)]
    pub match_conditions: Vec<WebhookMatchCondition>,
}

/// Where a server is.
#[proto(none)]
pub struct WebhookConnectionInfo {
    /// `KubeConfigFile` or `InClusterConfig`.
    #[field(json_only, required)]
    pub r#type: String,

    /// Absolute path of a kubeconfig, with type `KubeConfigFile`.
    #[field(json_only)]
    pub kube_config_file: Option<String>,
}

/// When a server is asked.
#[proto(none)]
pub struct WebhookMatchCondition {
    /// Expression over `request`, the specification of a SubjectAccessReview.
    #[field(json_only, required)]
    pub expression: String,
}
