use crate::meta::{LabelSelector, ObjectMeta};

/// Registers webhooks that approve or reject requests to the API server.
#[kind(
    plural = "validatingwebhookconfigurations",
    category = "api-extensions",
    scope = Cluster,
    unconditional_update = false,
    generation = exact,
    metadata = whole
)]
#[versions(
    v1(introduced = "1.16"),
    v1beta1(
        unserved,
        introduced = "1.9",
        deprecated = "1.16",
        removed = "1.22",
        replacement = "admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration"
    )
)]
#[column("Webhooks", integer, len(webhooks))]
#[column("Age", age)]
#[check(self, choose(stored_conditions, update, not(changed(webhooks.matchConditions))))]
#[check(self, choose(any_side_effects, was(not(holds(webhooks, below = side_effects)))))]
#[check(self, choose(any_review_version, was(not(holds(webhooks, below = review_versions)))))]
#[check(self, choose(repeated_names, was(not(holds(webhooks, below = names)))))]
#[check(self, choose(any_selector_value, was(not(holds(webhooks, below = selectors)))))]
#[check(webhooks, below)]
pub struct ValidatingWebhookConfiguration {
    /// Name, labels and annotations of this validating webhook registration.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// The validating callbacks being registered, each with its own rules.
    #[field(2, proto = "Webhooks", list = map(name), patch = merge)]
    pub webhooks: Vec<ValidatingWebhook>,
}

/// One HTTPS callback that accepts or rejects requests without changing objects.
#[check(name, format = fully_qualified_name)]
#[check(rules, below)]
#[check(failurePolicy, one_of(Fail, Ignore))]
#[check(matchPolicy, one_of(Equivalent, Exact))]
#[check(
    sideEffects,
    required = "must specify one of None, NoneOnDryRun",
    one_of(None, NoneOnDryRun),
    when(part(default, side_effects), not(option(any_side_effects)))
)]
#[check(
    sideEffects,
    required = "must specify one of None, NoneOnDryRun, Some, Unknown",
    one_of(None, NoneOnDryRun, Some, Unknown),
    when(option(any_side_effects))
)]
#[check(timeoutSeconds, range(1, 30, "the timeout value must be between 1 and 30 seconds"))]
#[check(namespaceSelector, below, when(part(default, selectors)))]
#[check(objectSelector, below, when(part(default, selectors)))]
#[check(clientConfig, below)]
#[check(matchConditions, max_items = 64, below, when(not(option(stored_conditions))))]
#[check(
    admissionReviewVersions,
    required = "must specify one of v1, v1beta1",
    each(unrepeated = "duplicate version", format = dns1035_label)
)]
#[check(
    admissionReviewVersions,
    optional,
    invalid = "must include at least one of v1, v1beta1",
    when(
        part(default, review_versions),
        not(admissionReviewVersions = (v1, v1beta1)),
        not(option(any_review_version))
    )
)]
#[check(name, optional, distinct, when(not(option(repeated_names))))]
#[check(name, distinct, when(part(names)))]
pub struct ValidatingWebhook {
    /// Dotted webhook name, such as `images.example.com`, unique within its configuration.
    #[field(1, required)]
    pub name: String,

    /// Where and how the API server reaches this validating webhook.
    #[field(2, required)]
    pub client_config: WebhookClientConfig,

    /// Operations and resources sent to this validator; any one match is enough.
    #[field(3, list = atomic)]
    pub rules: Vec<RuleWithOperations>,

    /// Whether an unreachable validator blocks requests (`Fail`, v1 default) or is skipped (`Ignore`).
    #[field(4, default_hidden = Fail)]
    pub failure_policy: Option<FailurePolicyType>,

    /// With `Exact` only listed versions match; `Equivalent` (v1 default) converts other versions first.
    #[field(9, default_hidden = Equivalent)]
    pub match_policy: Option<MatchPolicyType>,

    /// Calls the validating webhook only for objects in namespaces with matching labels.
    #[field(5, default_hidden = {})]
    pub namespace_selector: Option<LabelSelector>,

    /// Calls the validating webhook only if the new or old object's labels match.
    #[field(10, default_hidden = {})]
    pub object_selector: Option<LabelSelector>,

    /// States whether calls change anything elsewhere; v1 permits `None` or `NoneOnDryRun`.
    #[field(6, required)]
    pub side_effects: Option<SideEffectClass>,

    /// Seconds before the call counts as failed; 1 to 30, v1 default 10.
    #[field(7, default_hidden = 10)]
    pub timeout_seconds: Option<i32>,

    /// Supported `AdmissionReview` versions; the server uses the first one it knows.
    #[field(8, required, list = atomic)]
    pub admission_review_versions: Vec<String>,

    /// Up to 64 CEL filters checked by the server before the validating call.
    #[field(11, list = map(name), patch = merge)]
    pub match_conditions: Vec<MatchCondition>,
}

mod v1beta1 {
    #[differs(ValidatingWebhook)]
    struct ValidatingWebhook {
        /// Whether an unreachable validator blocks requests (`Fail`, v1 default) or is skipped (`Ignore`).
        #[field(4, default_hidden = Ignore)]
        failure_policy: Option<FailurePolicyType>,

        /// With `Exact` only listed versions match; `Equivalent` (v1 default) converts other versions first.
        #[field(9, default_hidden = Exact)]
        match_policy: Option<MatchPolicyType>,

        /// States whether calls change anything elsewhere; v1 permits `None` or `NoneOnDryRun`.
        #[allow(L020)]
        #[field(6, list = atomic, default_hidden = Unknown)]
        side_effects: Option<SideEffectClass>,

        /// Seconds before the call counts as failed; 1 to 30, v1 default 10.
        #[field(7, default_hidden = 30)]
        timeout_seconds: Option<i32>,

        /// Supported `AdmissionReview` versions; the server uses the first one it knows.
        #[field(8, list = atomic, default_hidden = ["v1beta1"])]
        admission_review_versions: Vec<String>,
    }
}
