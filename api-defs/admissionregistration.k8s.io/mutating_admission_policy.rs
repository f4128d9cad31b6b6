use crate::meta::ObjectMeta;

/// In-process CEL policy that modifies objects during admission, with no webhook server needed.
#[kind(
    plural = "mutatingadmissionpolicies",
    category = "api-extensions",
    scope = Cluster,
    storage = v1beta1,
    unconditional_update = false,
    generation,
    metadata = whole
)]
#[versions(
    v1(introduced = "1.36"),
    v1beta1(introduced = "1.34", replacement = "admissionregistration.k8s.io/v1 MutatingAdmissionPolicy"),
    v1alpha1(introduced = "1.32")
)]
#[column("Mutations", integer, len(spec.mutations))]
#[column("ParamKind", by_hand = mutating_admission_policy_param_kind, reads(spec.paramKind), "Kind of the policy's parameter objects.")]
#[column("Age", age)]
#[check(spec, below)]
pub struct MutatingAdmissionPolicy {
    /// Name, labels and annotations of this cluster-scoped mutating policy.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Requests the mutating policy matches and the changes it makes.
    #[field(2)]
    pub spec: MutatingAdmissionPolicySpec,
}

/// Matching criteria, mutations and failure handling of a mutating policy.
#[check(failurePolicy, required, one_of(Fail, Ignore))]
#[check(self, choose = params, when(set(paramKind)))]
#[check(paramKind, below)]
#[check(matchConstraints, required, below, below = types, below = mutations)]
#[check(matchConditions, max_items = 64, below, when(any(changed(paramKind), changed(matchConditions))))]
#[check(variables, below)]
#[check(mutations, required = "mutations must contain at least one item", below)]
#[check(reinvocationPolicy, required, one_of(IfNeeded, Never))]
pub struct MutatingAdmissionPolicySpec {
    /// Type of object accepted as parameters; omit it if the policy takes none.
    #[field(1)]
    pub param_kind: Option<ParamKind>,

    /// Requests eligible for mutation; required, and needs at least one resource rule.
    #[field(2)]
    pub match_constraints: Option<MatchResources>,

    /// Named CEL snippets reusable in later expressions through `variables.<name>`.
    #[field(3, list = atomic)]
    pub variables: Vec<Variable>,

    /// Ordered changes made to each matching object; at least one is needed.
    #[field(4, list = atomic)]
    pub mutations: Vec<Mutation>,

    /// Outcome when evaluation errors or the policy is misconfigured; default `Fail`.
    #[field(5, default_hidden = Fail)]
    pub failure_policy: Option<FailurePolicyType>,

    /// Up to 64 CEL filters, all of which must hold before mutating.
    #[field(6, list = map(name), patch = merge)]
    pub match_conditions: Vec<MatchCondition>,

    /// Whether to run again if later plugins alter the object: `Never` or `IfNeeded`.
    #[field(7)]
    pub reinvocation_policy: ReinvocationPolicyType,
}

/// A single change step inside a mutating policy.
#[check(patchType, required, one_of(ApplyConfiguration, JSONPatch))]
#[check(
    jsonPatch,
    required = "must be specified when patchType is JSONPatch",
    below,
    when(patchType = JSONPatch)
)]
#[check(
    applyConfiguration,
    optional,
    invalid("{applyConfiguration}", "must not be specified when patchType is JSONPatch"),
    when(patchType = JSONPatch)
)]
#[check(
    applyConfiguration,
    required = "must be specified when patchType is ApplyConfiguration",
    below,
    when(patchType = ApplyConfiguration)
)]
#[check(
    jsonPatch,
    optional,
    invalid("{jsonPatch}", "must not be specified when patchType is ApplyConfiguration"),
    when(patchType = ApplyConfiguration)
)]
pub struct Mutation {
    /// Chooses which style is used: `ApplyConfiguration` or `JSONPatch`.
    #[field(2, required)]
    pub patch_type: PatchType,

    /// Merge-style change, required when `patchType` is `ApplyConfiguration`.
    #[field(3)]
    pub apply_configuration: Option<ApplyConfiguration>,

    /// Step-by-step change list, required when `patchType` is `JSONPatch`.
    #[field(4)]
    pub json_patch: Option<JSONPatch>,
}

/// Styles of mutation available in a mutating policy.
pub enum PatchType {
    ApplyConfiguration,
    JSONPatch,
}

/// A mutation written as a CEL expression that is merged using server-side apply rules.
#[check(expression, missing = "", when(blank(expression)))]
#[check(self, by_hand = compile_apply_configuration, when(not(blank(expression))))]
pub struct ApplyConfiguration {
    /// CEL yielding an `Object{...}` value that is merged into the incoming object.
    #[field(1)]
    pub expression: String,
}

/// A mutation written as CEL that builds a list of JSON Patch steps.
#[check(expression, missing = "", when(blank(expression)))]
#[check(self, by_hand = compile_json_patch, when(not(blank(expression))))]
pub struct JSONPatch {
    /// CEL returning an array of `JSONPatch{...}` operations, applied in order.
    #[field(1)]
    pub expression: String,
}
