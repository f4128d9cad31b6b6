/// Configuration of the chain of authorizers (`--authorization-config`).
#[kind]
#[versions(v1, v1beta1, v1alpha1)]
#[proto(none)]
pub struct AuthorizationConfiguration {
    /// Authorizers in order; the first one with an opinion decides.
    #[field(json_only, required, list = atomic)]
    pub authorizers: Vec<AuthorizerConfiguration>,
}

/// Configuration of one authorizer.
#[proto(none)]
pub struct AuthorizerConfiguration {
    /// Type of the authorizer: `Webhook`, or another mode of `--authorization-mode`.
    #[field(json_only, required)]
    pub r#type: String,

    /// Name of the authorizer in metrics; a DNS name.
    #[field(json_only, required)]
    pub name: String,

    /// Settings for type `Webhook`; forbidden for other types.
    #[field(json_only)]
    pub webhook: Option<WebhookConfiguration>,
}

/// Settings of a webhook authorizer.
#[proto(none)]
pub struct WebhookConfiguration {
    /// Cache duration of allowed decisions; defaults to five minutes.
    #[field(json_only, required, json = "authorizedTTL")]
    pub authorized_ttl: Duration,

    /// Whether allowed decisions are cached; defaults to true.
    #[field(json_only)]
    pub cache_authorized_requests: Option<bool>,

    /// Cache duration of denied decisions; defaults to thirty seconds.
    #[field(json_only, required, json = "unauthorizedTTL")]
    pub unauthorized_ttl: Duration,

    /// Whether denied decisions are cached; defaults to true.
    #[field(json_only)]
    pub cache_unauthorized_requests: Option<bool>,

    /// Timeout of a webhook call; at most thirty seconds.
    #[field(json_only, required)]
    pub timeout: Duration,

    /// Version of the SubjectAccessReview to send: `v1` or `v1beta1`.
    #[field(json_only, required)]
    pub subject_access_review_version: String,

    /// Version of the SubjectAccessReview that match conditions evaluate: `v1`.
    #[field(json_only, required)]
    pub match_condition_subject_access_review_version: String,

    /// Decision when the webhook fails: `NoOpinion` or `Deny`.
    #[field(json_only, required)]
    pub failure_policy: String,

    /// Address and credentials of the webhook.
    #[field(json_only, required)]
    pub connection_info: WebhookConnectionInfo,

    /// Conditions for calling the webhook, all of which must hold.
    #[field(json_only, required, list = atomic)]
    pub match_conditions: Vec<WebhookMatchCondition>,
}

/// Address and credentials of a webhook.
#[proto(none)]
pub struct WebhookConnectionInfo {
    /// Source of the connection settings: `KubeConfigFile` or `InClusterConfig`.
    #[field(json_only, required)]
    pub r#type: String,

    /// Absolute path of the kubeconfig for type `KubeConfigFile`.
    #[field(json_only)]
    pub kube_config_file: Option<String>,
}

/// Condition for calling a webhook.
#[proto(none)]
pub struct WebhookMatchCondition {
    /// CEL expression over `request`, the spec of a SubjectAccessReview.
    #[field(json_only, required)]
    pub expression: String,
}
