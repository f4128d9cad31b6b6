use crate::meta::{LabelSelector, ObjectMeta};

/// Registers webhooks that the API server calls to modify incoming objects.
#[kind(
    plural = "mutatingwebhookconfigurations",
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
        replacement = "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration"
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
pub struct MutatingWebhookConfiguration {
    /// Name, labels and annotations of this mutating webhook registration.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// The mutating callbacks being registered, together with the requests each one intercepts.
    #[field(2, proto = "Webhooks", list = map(name), patch = merge)]
    pub webhooks: Vec<MutatingWebhook>,
}

/// One HTTPS callback that may change objects before they are stored.
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
#[check(reinvocationPolicy, one_of(IfNeeded, Never))]
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
pub struct MutatingWebhook {
    /// Fully qualified webhook name, such as `sidecar.example.com`, unique in the configuration.
    #[field(1, required)]
    pub name: String,

    /// Where and how the API server reaches this mutating webhook.
    #[field(2, required)]
    pub client_config: WebhookClientConfig,

    /// Operations and resources that trigger this callback; any one match is enough.
    #[field(3, list = atomic)]
    pub rules: Vec<RuleWithOperations>,

    /// Treatment of unreachable or erroring webhooks: `Fail` (v1 default) blocks, `Ignore` continues.
    #[field(4, default_hidden = Fail)]
    pub failure_policy: Option<FailurePolicyType>,

    /// Use `Equivalent` (v1 default) to also catch requests through other API versions.
    #[field(9, default_hidden = Equivalent)]
    pub match_policy: Option<MatchPolicyType>,

    /// Calls the mutating webhook only for objects in namespaces with matching labels.
    #[field(5, default_hidden = {})]
    pub namespace_selector: Option<LabelSelector>,

    /// Calls the mutating webhook only if the new or old object's labels match.
    #[field(11, default_hidden = {})]
    pub object_selector: Option<LabelSelector>,

    /// Declares out-of-band effects; v1 accepts only `None` and `NoneOnDryRun`.
    #[field(6, required)]
    pub side_effects: Option<SideEffectClass>,

    /// Seconds to wait for a reply, from 1 to 30; v1 default is 10.
    #[field(7, default_hidden = 10)]
    pub timeout_seconds: Option<i32>,

    /// Versions of `AdmissionReview` the webhook understands, most preferred first, e.g. `v1`.
    #[field(8, required, list = atomic)]
    pub admission_review_versions: Vec<String>,

    /// Set `IfNeeded` to be called once more after other mutations; default `Never`.
    #[field(10, default_hidden = Never)]
    pub reinvocation_policy: Option<ReinvocationPolicyType>,

    /// Up to 64 CEL filters checked by the server before the mutating call.
    #[field(12, list = map(name), patch = merge)]
    pub match_conditions: Vec<MatchCondition>,
}

mod v1beta1 {
    #[differs(MutatingWebhook)]
    struct MutatingWebhook {
        /// Treatment of unreachable or erroring webhooks: `Fail` (v1 default) blocks, `Ignore` continues.
        #[field(4, default_hidden = Ignore)]
        failure_policy: Option<FailurePolicyType>,

        /// Use `Equivalent` (v1 default) to also catch requests through other API versions.
        #[field(9, default_hidden = Exact)]
        match_policy: Option<MatchPolicyType>,

        /// Declares out-of-band effects; v1 accepts only `None` and `NoneOnDryRun`.
        #[field(6, default_hidden = Unknown)]
        side_effects: Option<SideEffectClass>,

        /// Seconds to wait for a reply, from 1 to 30; v1 default is 10.
        #[field(7, default_hidden = 30)]
        timeout_seconds: Option<i32>,

        /// Versions of `AdmissionReview` the webhook understands, most preferred first, e.g. `v1`.
        #[field(8, list = atomic, default_hidden = ["v1beta1"])]
        admission_review_versions: Vec<String>,
    }
}
