//! Validating policies, and what they share with mutating ones.

use std::collections::HashSet;

use cel::{Environment, Type};
use machinery::field_path::Path;
use machinery::format;
use machinery::hooks::Validation;
use meta::validate_conditions;

use super::super::expressions::{Available, Variables, environment};
use super::FAILURE_POLICIES;
use super::conditions::{validate_expression, validate_match_conditions};
use super::rules::validate_match_resources;
use crate::core::internal::internal_values;
use generated::admissionregistration::v1::{
    self, AuditAnnotation, MatchResources, ParamKind, TypeChecking, ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicySpec, Variable,
};

const REASONS: [&str; 3] = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
const MAX_ANNOTATIONS: usize = 20;
const MAX_ANNOTATION_EXPRESSION: usize = 5 * 1024;

/// `ValidateValidatingAdmissionPolicy`, `ValidateValidatingAdmissionPolicyUpdate`, `ValidateValidatingAdmissionPolicyStatusUpdate`
pub fn validate_validating_policy(
    v: &mut Validation<'_>,
    _: &Path<'_>,
    new: &ValidatingAdmissionPolicy,
    old: Option<&ValidatingAdmissionPolicy>,
) {
    if v.context.subresource == "status" {
        let path = Path::new("status");
        if let Some(checking) = new.status.type_checking.as_deref() {
            validate_type_checking(v, &path.child("typeChecking"), checking);
        }
        return validate_conditions(v, &path.child("conditions"), &new.status.conditions);
    }
    let (path, spec) = (Path::new("spec"), &new.spec);
    validate_failure_policy(v, &path, spec.failure_policy.as_deref());
    if let Some(kind) = spec.param_kind.as_deref() {
        validate_param_kind(v, &path.child("paramKind"), kind);
    }
    validate_match_constraints(v, &path.child("matchConstraints"), spec.match_constraints.as_deref());
    let is_same = |old: &ValidatingAdmissionPolicy| {
        old.spec.param_kind == spec.param_kind && old.spec.match_conditions == spec.match_conditions
    };
    if !old.is_some_and(is_same) {
        let params = spec.param_kind.is_some();
        validate_match_conditions(v, &path.child("matchConditions"), &spec.match_conditions, params);
    }
    validate_checks(v, &path, &new.metadata.name, spec);
}

/// `validateTypeChecking`
fn validate_type_checking(v: &mut Validation<'_>, path: &Path<'_>, checking: &TypeChecking) {
    let path = path.child("expressionWarnings");
    for (index, warning) in checking.expression_warnings.iter().enumerate() {
        let path = path.index(index);
        v.filled(&path.child("warning"), &warning.warning);
        v.filled(&path.child("fieldRef"), warning.field_ref.trim());
    }
}

fn validate_checks(v: &mut Validation<'_>, path: &Path<'_>, name: &str, spec: &ValidatingAdmissionPolicySpec) {
    let expressions = Expressions::of(v, &path.child("variables"), spec);
    let (of_checks, of_annotations) = (path.child("validations"), path.child("auditAnnotations"));
    if spec.validations.is_empty() && spec.audit_annotations.is_empty() {
        let detail = "validations or auditAnnotations must contain at least one item";
        v.required(&of_checks, detail);
        return v.required(&of_annotations, detail);
    }
    for (index, check) in spec.validations.iter().enumerate() {
        validate_check(v, &of_checks.index(index), check, &expressions);
    }
    if spec.audit_annotations.len() > MAX_ANNOTATIONS {
        let shown = internal_values(&spec.audit_annotations);
        v.invalid(&of_annotations, shown, format!("must not have more than {MAX_ANNOTATIONS} auditAnnotations"));
    }
    let mut keys = HashSet::new();
    for (index, annotation) in spec.audit_annotations.iter().enumerate() {
        let path = of_annotations.index(index);
        validate_annotation(v, &path, name, annotation, &expressions.checks);
        if !keys.insert(&annotation.key) {
            v.duplicate(&path.child("key"), &annotation.key);
        }
    }
}

/// `validateValidation`
fn validate_check(v: &mut Validation<'_>, path: &Path<'_>, check: &v1::Validation, expressions: &Expressions) {
    let blank = |text: &str| !text.is_empty() && text.trim().is_empty();
    if check.expression.trim().is_empty() {
        v.required(&path.child("expression"), "expression is not specified");
    } else {
        validate_expression(v, &path.child("expression"), &check.expression, &expressions.checks, &[Type::Bool]);
    }
    let (at, message) = (path.child("messageExpression"), &check.message_expression);
    if blank(message) {
        v.invalid(&at, message, "must be non-empty if specified");
    } else if !message.is_empty() {
        validate_expression(v, &at, message, &expressions.messages, &[Type::String]);
    }
    let at = path.child("message");
    if blank(&check.message) {
        v.invalid(&at, &check.message, "must be non-empty if specified");
    } else if check.message.trim().contains(['\n', '\r']) {
        v.invalid(&at, &check.message, "must not contain line breaks");
    }
    if let Some(reason) = &check.reason {
        v.one_of(&path.child("reason"), reason, &REASONS);
    }
}

/// `validateAuditAnnotation`
fn validate_annotation(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    policy: &str,
    annotation: &AuditAnnotation,
    environment: &Environment,
) {
    let (of_key, of_value) = (path.child("key"), path.child("valueExpression"));
    if policy.is_empty() {
        v.invalid(&of_key, &annotation.key, "requires metadata.name be non-empty");
    } else {
        let key = format!("{policy}/{}", annotation.key);
        v.malformed(&of_key, &key, format::is_qualified_name(&key));
    }
    let source = annotation.value_expression.trim();
    match source.len() {
        0 => v.required(&of_value, "valueExpression is not specified"),
        1..=MAX_ANNOTATION_EXPRESSION => {
            validate_expression(v, &of_value, source, environment, &[Type::String, Type::Null]);
        }
        _ => v.required(&of_value, format!("must not exceed {MAX_ANNOTATION_EXPRESSION} bytes in length")),
    }
}

pub(super) fn validate_failure_policy(v: &mut Validation<'_>, path: &Path<'_>, policy: Option<&str>) {
    let path = path.child("failurePolicy");
    match policy {
        None => v.required(&path, ""),
        Some(policy) => v.one_of(&path, policy, &FAILURE_POLICIES),
    }
}

/// The resources that give expressions their types have to be said.
pub(super) fn validate_match_constraints(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    constraints: Option<&MatchResources>,
) {
    let Some(constraints) = constraints else { return v.required(path, "") };
    validate_match_resources(v, path, constraints);
    if constraints.resource_rules.is_empty() {
        v.required(&path.child("resourceRules"), "");
    }
}

/// What the expressions of a validating policy may name.
struct Expressions {
    checks: Environment,
    messages: Environment,
}

impl Expressions {
    fn of(v: &mut Validation<'_>, path: &Path<'_>, spec: &ValidatingAdmissionPolicySpec) -> Self {
        let available = Available { params: spec.param_kind.is_some(), authorizer: true, patches: false };
        let variables = validate_variables(v, path, &spec.variables, available);
        let with = |environment| if variables.is_empty() { environment } else { variables.compose(environment) };
        let messages = environment(Available { authorizer: false, ..available });
        Expressions { checks: with(environment(available)), messages: with(messages) }
    }
}

/// `validateVariable`; each variable may use those before it. Returns all of them.
pub(super) fn validate_variables(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    variables: &[Variable],
    available: Available,
) -> Variables {
    let mut known = Variables::default();
    let plain = environment(available);
    for (index, variable) in variables.iter().enumerate() {
        let path = path.index(index);
        if variable.name.trim().is_empty() {
            v.required(&path.child("name"), "name is not specified");
        } else if !is_identifier(&variable.name) {
            v.invalid(&path.child("name"), &variable.name, "must be a valid CEL identifier");
        }
        if variable.expression.trim().is_empty() {
            v.required(&path.child("expression"), "expression is not specified");
            known.skip();
            continue;
        }
        let environment = known.compose(plain.clone());
        let of = validate_expression(v, &path.child("expression"), &variable.expression, &environment, &[]);
        known.add(&variable.name, of);
    }
    known
}

fn is_identifier(name: &str) -> bool {
    let is_part = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    let is_word = name.bytes().all(is_part) && !name.starts_with(|c: char| c.is_ascii_digit());
    is_word && !cel::is_reserved(name)
}

/// `validateParamKind`
pub(super) fn validate_param_kind(v: &mut Validation<'_>, path: &Path<'_>, said: &ParamKind) {
    let (of_version, of_kind) = (path.child("apiVersion"), path.child("kind"));
    match said.api_version.split('/').collect::<Vec<_>>().as_slice() {
        [""] => v.required(&of_version, ""),
        ["", ""] => v.invalid(&of_version, &said.api_version, "version must be specified"),
        [version] => validate_version(v, &of_version, &said.api_version, version),
        [group, version] => {
            let wrong = format::is_dns1123_subdomain(group);
            if !group.is_empty() && !wrong.is_empty() {
                v.invalid(&of_version, *group, wrong.join(","));
            }
            validate_version(v, &of_version, &said.api_version, version);
        }
        _ => {
            let why = format!("unexpected GroupVersion string: {}", said.api_version);
            v.invalid(&of_version, &said.api_version, why);
        }
    }
    let wrong = format::is_dns1035_label(&said.kind.to_lowercase());
    if said.kind.is_empty() {
        v.required(&of_kind, "");
    } else if !wrong.is_empty() {
        let why = format!("may have mixed case, but should otherwise match: {}", wrong.join(","));
        v.invalid(&of_kind, &said.kind, why);
    }
}

fn validate_version(v: &mut Validation<'_>, path: &Path<'_>, said: &str, version: &str) {
    let wrong = format::is_dns1035_label(version);
    if version.is_empty() {
        v.invalid(path, said, "version must be specified");
    } else if !wrong.is_empty() {
        v.invalid(path, version, wrong.join(","));
    }
}
