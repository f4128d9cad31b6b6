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
#[column("ParamKind", by_hand = validating_admission_policy_param_kind, reads(spec.paramKind), "Kind of the policy's parameter objects.")]
#[column("Age", age)]
#[check(metadata.name, tell = object_name)]
#[check(spec, below, when(not(subresource = status)))]
#[check(status, below, when(subresource = status))]
pub struct ValidatingAdmissionPolicy {
    /// Name, labels and annotations of this cluster-scoped validating policy.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Requests the validating policy matches and the checks it runs.
    #[field(2)]
    pub spec: ValidatingAdmissionPolicySpec,

    /// Type-check findings and conditions recorded for the validating policy.
    #[field(3)]
    pub status: ValidatingAdmissionPolicyStatus,
}

/// Matching criteria, checks and failure handling of a validating policy.
#[check(failurePolicy, required, one_of(Fail, Ignore))]
#[check(self, choose = params, when(set(paramKind)))]
#[check(paramKind, below)]
#[check(matchConstraints, required, below, below = types)]
#[check(matchConditions, max_items = 64, below, when(any(changed(paramKind), changed(matchConditions))))]
#[check(variables, below)]
#[check(
    validations,
    missing = "validations or auditAnnotations must contain at least one item",
    when(none(validations, auditAnnotations))
)]
#[check(
    auditAnnotations,
    missing = "validations or auditAnnotations must contain at least one item",
    when(none(validations, auditAnnotations))
)]
#[check(validations, below)]
#[check(auditAnnotations, max_items(20, "must not have more than 20 auditAnnotations"), below)]
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
#[check(expression, missing = "expression is not specified", when(blank(expression)))]
#[check(self, by_hand = compile_validation, when(not(blank(expression))))]
#[check(messageExpression, optional, invalid = "must be non-empty if specified", when(blank(messageExpression)))]
#[check(self, by_hand = compile_message, when(not(blank(messageExpression))))]
#[check(message, optional, invalid = "must be non-empty if specified", when(blank(message)))]
#[check(message, format = single_line, when(not(blank(message))))]
#[check(reason, one_of(Forbidden, Invalid, RequestEntityTooLarge))]
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
#[check(self, by_hand = validate_annotation_key)]
#[check(valueExpression, missing = "valueExpression is not specified", when(blank(valueExpression)))]
#[check(self, by_hand = compile_annotation, when(not(blank(valueExpression))))]
#[check(key, distinct)]
pub struct AuditAnnotation {
    /// Name of the audit entry; the policy name is prepended to keep it unique.
    #[field(1, required)]
    pub key: String,

    /// CEL returning the entry's text, or null to leave the entry out.
    #[field(2, required)]
    pub value_expression: String,
}

/// Controller-reported state of a validating policy, including type-check results.
#[check(typeChecking.expressionWarnings, below)]
#[check(conditions, below)]
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
#[check(warning, filled)]
#[check(fieldRef, missing = "", when(blank(fieldRef)))]
pub struct ExpressionWarning {
    /// Path in the policy to the faulty expression, e.g. `spec.validations[0].expression`.
    #[field(2, required)]
    pub field_ref: String,

    /// Human-readable type errors, grouped by the resource type they were checked against.
    #[field(3, required)]
    pub warning: String,
}
