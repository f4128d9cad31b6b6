use crate::meta::{Condition, ObjectMeta, StatusReason};

/// In-process CEL policy that accepts or rejects requests without a webhook server.
#[kind(
    plural = "validatingadmissionpolicies",
    category = "api-extensions",
    scope = Cluster,
    unconditional_update = false,
    metadata = whole
)]
#[versions(v1(introduced = "1.30"), v1beta1(unserved, introduced = "1.28"), v1alpha1(unserved, introduced = "1.26"))]
#[subresource(status, resets(spec, metadata))]
#[column("Validations", integer, len(spec.validations))]
#[column("ParamKind", by_hand = validating_admission_policy_param_kind, reads(spec.paramKind), "The kind of object that parameters of the policy are taken from.")]
#[column("Age", age)]
#[validate(by_hand = validate_validating_policy)]
pub struct ValidatingAdmissionPolicy {
    /// Name, labels and annotations of this cluster-scoped validating policy.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// What the validating policy matches and which checks it runs.
    #[field(2)]
    pub spec: ValidatingAdmissionPolicySpec,

    /// Type-check findings and conditions recorded for the validating policy.
    #[field(3)]
    pub status: ValidatingAdmissionPolicyStatus,
}

/// Matching criteria, checks and failure handling of a validating policy.
pub struct ValidatingAdmissionPolicySpec {
    /// Type of parameter objects the checks expect; leave unset when none are needed.
    #[field(1)]
    pub param_kind: Option<ParamKind>,

    /// Requests the policy inspects; required, with one or more resource rules.
    #[field(2)]
    pub match_constraints: Option<MatchResources>,

    /// CEL checks to run; needed unless `auditAnnotations` is given.
    #[field(3, list = atomic)]
    pub validations: Vec<Validation>,

    /// Reject (`Fail`, default) or let through (`Ignore`) when evaluation errors occur.
    #[field(4, default_hidden = Fail)]
    pub failure_policy: Option<FailurePolicyType>,

    /// Entries computed with CEL for the audit log; needed unless `validations` is given.
    #[field(5, list = atomic)]
    pub audit_annotations: Vec<AuditAnnotation>,

    /// Up to 64 CEL filters that must all be true before validation runs.
    #[field(6, list = map(name), patch = merge)]
    pub match_conditions: Vec<MatchCondition>,

    /// Named CEL values, evaluated lazily and referenced as `variables.<name>` in checks.
    #[field(7, list = map(name), patch = merge)]
    pub variables: Vec<Variable>,
}

/// One CEL check with the error to report when it fails.
pub struct Validation {
    /// CEL that must return true for the request to pass.
    #[field(1, proto = "Expression", required)]
    pub expression: String,

    /// Fixed text returned on failure; required if the expression spans several lines.
    #[field(2)]
    pub message: String,

    /// Status reason given to clients, e.g. `Forbidden`; defaults to `Invalid`.
    #[field(3)]
    pub reason: Option<StatusReason>,

    /// CEL producing the failure text; preferred over `message` when it evaluates successfully.
    #[field(4)]
    pub message_expression: String,
}

/// Rule that computes one audit log entry when a policy evaluates a request.
pub struct AuditAnnotation {
    /// Name of the audit entry; the policy name is prepended to keep it unique.
    #[field(1, required)]
    pub key: String,

    /// CEL returning the entry's text, or null to leave the entry out.
    #[field(2, required)]
    pub value_expression: String,
}

/// Controller-reported state of a validating policy, including type-check results.
pub struct ValidatingAdmissionPolicyStatus {
    /// Policy generation that the reported type checking refers to.
    #[field(1)]
    pub observed_generation: i64,

    /// Findings of the CEL type checker; present only once checking has finished.
    #[field(2)]
    pub type_checking: Option<TypeChecking>,

    /// Latest conditions reported for this validating policy.
    #[field(3, list = map(type))]
    pub conditions: Vec<Condition>,
}

/// Outcome of statically checking a policy's CEL against the types it matches.
pub struct TypeChecking {
    /// Type problems per expression; empty when everything checks out.
    #[field(1, list = atomic)]
    pub expression_warnings: Vec<ExpressionWarning>,
}

/// A problem that type checking found in one of the policy's CEL expressions.
pub struct ExpressionWarning {
    /// Path in the policy to the faulty expression, e.g. `spec.validations[0].expression`.
    #[field(2, required)]
    pub field_ref: String,

    /// Human-readable type errors, grouped by the resource type they were checked against.
    #[field(3, required)]
    pub warning: String,
}
