use crate::meta::ObjectMeta;

/// Activates a validating policy for chosen resources and decides how violations are handled.
#[kind(
    plural = "validatingadmissionpolicybindings",
    category = "api-extensions",
    scope = Cluster,
    unconditional_update = false,
    generation,
    metadata = whole
)]
#[versions(v1(introduced = "1.30"), v1beta1(unserved, introduced = "1.28"), v1alpha1(unserved, introduced = "1.26"))]
#[column("PolicyName", spec.policyName)]
#[column("ParamRef", by_hand = validating_admission_policy_binding_param_ref, reads(spec.paramRef), "Parameter object, as namespace and name or as a selector.")]
#[column("Age", age)]
#[check(spec, below)]
pub struct ValidatingAdmissionPolicyBinding {
    /// Name, labels and annotations of this cluster-scoped validating binding.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Which validating policy is activated, where, and with what enforcement.
    #[field(2, required)]
    pub spec: ValidatingAdmissionPolicyBindingSpec,
}

/// Settings that connect a validating policy with its scope, parameters and enforcement.
#[check(policyName, required, name = dns1123_subdomain)]
#[check(paramRef, below)]
#[check(matchResources, below)]
#[check(validationActions, each(one_of(Audit, Deny, Warn), distinct))]
#[check(
    validationActions,
    invalid = "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)",
    when(validationActions = Deny, validationActions = Warn)
)]
#[check(validationActions, filled = "at least one validation action is required")]
pub struct ValidatingAdmissionPolicyBindingSpec {
    /// Name of the `ValidatingAdmissionPolicy` to activate; required.
    #[field(1, required, omitempty)]
    pub policy_name: String,

    /// Parameter object exposed to the validation expressions as `params`.
    #[field(2)]
    pub param_ref: Option<ParamRef>,

    /// Further restricts where the validating policy applies; it cannot broaden the policy.
    #[field(3)]
    pub match_resources: Option<MatchResources>,

    /// How failures are enforced: `Deny`, `Warn`, `Audit`; `Deny` and `Warn` exclude each other.
    #[field(4, required, omitempty, list = set)]
    pub validation_actions: Vec<ValidationAction>,
}

/// Enforcement modes for failed checks: block, warn the client, or log to audit.
pub enum ValidationAction {
    Deny,
    Warn,
    Audit,
}
