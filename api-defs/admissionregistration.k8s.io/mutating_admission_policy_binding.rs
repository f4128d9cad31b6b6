use crate::meta::ObjectMeta;

/// Activates a mutating policy for chosen resources, optionally supplying parameters.
#[kind(
    plural = "mutatingadmissionpolicybindings",
    category = "api-extensions",
    scope = Cluster,
    storage = v1beta1,
    unconditional_update = false,
    generation,
    metadata = whole
)]
#[versions(
    v1(introduced = "1.36"),
    v1beta1(introduced = "1.34", replacement = "admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding"),
    v1alpha1(introduced = "1.32")
)]
#[column("PolicyName", spec.policyName)]
#[column("ParamRef", by_hand = mutating_admission_policy_binding_param_ref, reads(spec.paramRef), "Parameter object, as namespace and name or as a selector.")]
#[column("Age", age)]
#[check(spec, below)]
pub struct MutatingAdmissionPolicyBinding {
    /// Name, labels and annotations of this cluster-scoped mutating binding.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Which mutating policy is activated, where, and with what parameters.
    #[field(2)]
    pub spec: MutatingAdmissionPolicyBindingSpec,
}

/// Settings that connect a mutating policy with its scope and parameters.
#[check(policyName, required, name = dns1123_subdomain)]
#[check(paramRef, below)]
#[check(matchResources, below, below = mutations)]
pub struct MutatingAdmissionPolicyBindingSpec {
    /// Name of the `MutatingAdmissionPolicy` to activate; an unknown name makes the binding inert.
    #[field(1)]
    pub policy_name: String,

    /// Parameter object made available to the policy's CEL as `params`.
    #[field(2)]
    pub param_ref: Option<ParamRef>,

    /// Narrows the policy's own match constraints; it can never widen them.
    #[field(3)]
    pub match_resources: Option<MatchResources>,
}
