//! Validating policies.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cel::{CostBudget, Type, Value};
use endpoints::AdmissionAttributes;
use generated::admissionregistration::v1::{
    AuditAnnotation, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingAdmissionPolicySpec,
    failure_policy_type, validation_action,
};
use kubernetes::admissionregistration::Available;
use machinery::offload;
use machinery::reflect::Owned;
use machinery::status::Status;

use super::super::forbidden;
use super::super::lookup::find;
use super::super::metrics::MatchConditionMetrics;
use super::annotations::{self, Annotations};
use super::compiled::{Common, Expression, conditions_hold};
use super::error::PolicyError;
use super::input::{Activation, Input};
use super::matching::PolicyRequest;
use super::{Policies, PolicyInformers, params, refused};

/// Maximum length of the result of a message expression, in bytes.
const MAX_MESSAGE: usize = 5 * 1024;

/// The compiled programs of a policy.
struct Programs {
    common: Common,
    validations: Vec<Check>,
    annotations: Vec<(String, Expression)>,
}

struct Check {
    condition: Expression,
    message: String,
    message_expression: Option<Expression>,
    reason: String,
}

impl Programs {
    fn new(spec: &ValidatingAdmissionPolicySpec) -> Self {
        let available = Available { params: spec.param_kind.is_some(), authorizer: true, patches: false };
        let common = Common::new(&spec.match_conditions, &spec.variables, available);
        let check = |validation: &generated::admissionregistration::v1::Validation| Check {
            condition: Expression::new(&validation.expression, &common.environment, &[Type::Bool]),
            message: validation.message.trim().to_owned(),
            message_expression: Some(&validation.message_expression)
                .filter(|expression| !expression.is_empty())
                .map(|expression| Expression::new(expression, &common.messages, &[Type::String])),
            reason: validation.reason.clone().unwrap_or_default(),
        };
        let validations = spec.validations.iter().map(check).collect();
        let annotation = |annotation: &AuditAnnotation| {
            let value = Expression::new(&annotation.value_expression, &common.environment, &[Type::String, Type::Null]);
            (annotation.key.clone(), value)
        };
        let annotations = spec.audit_annotations.iter().map(annotation).collect();
        Programs { common, validations, annotations }
    }
}

/// A failed validation of one binding.
struct Refusal {
    message: String,
    reason: String,
    /// The index of the failed validation.
    index: usize,
    /// Whether the request is denied regardless of the binding's actions.
    always: bool,
    /// The duration of the evaluation.
    took: Duration,
}

impl Refusal {
    fn failed(error: &PolicyError) -> Self {
        Refusal { message: error.to_string(), reason: String::new(), index: 0, always: false, took: Duration::ZERO }
    }
}

/// The results of a policy's bindings for one request.
#[derive(Default)]
struct Evaluation {
    refusals: Vec<Refusal>,
    annotations: Annotations,
    /// Ignored validation errors and the duration of each evaluation.
    ignored: Vec<(String, Duration)>,
}

/// Evaluates all matching policies.
pub async fn run(
    policies: &Policies,
    watched: &PolicyInformers<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding>,
    attributes: &AdmissionAttributes,
    object: Option<&Owned>,
    old: Option<&Owned>,
) -> Result<(), Status> {
    let all = watched.policies.all();
    if all.is_empty() {
        return Ok(());
    }
    let namespace = find(&policies.context.stores, attributes, ("", "namespaces"), ("", &attributes.namespace)).await?;
    let subject = PolicyRequest { context: &policies.context, attributes, object, old, namespace };
    let mut denied = None;
    for policy in &all {
        let matched = policy.spec.match_constraints.as_deref().and_then(|constraints| subject.matched(constraints));
        let Some(seen) = matched else { continue };
        let bindings = watched.bindings.all();
        let own: Vec<_> = bindings.iter().filter(|b| is_bound(b, policy, &subject)).collect();
        if own.is_empty() {
            continue;
        }
        offload::to_work_pool().await?;
        let programs = policies.compiled.get(&policy.metadata, || Programs::new(&policy.spec));
        let input = match Input::new(&subject, seen) {
            Ok(input) => input,
            Err(_) if policy.spec.failure_policy.as_deref() == Some(failure_policy_type::IGNORE) => continue,
            Err(status) => {
                let (name, why) = (&policy.metadata.name, PolicyError::NotConverted(status));
                let why = format!("ValidatingAdmissionPolicy '{name}' denied request: {why}");
                denied = denied.or_else(|| Some(refused(forbidden(attributes, &why), "", why)));
                continue;
            }
        };
        let mut evaluation = Evaluation::default();
        for binding in own {
            let condition_metrics = policies.metrics.of_policy(&policy.metadata.name, attributes.operation);
            evaluate_binding(policy, binding, &programs, &input, (&subject, condition_metrics), &mut evaluation).await;
            for (why, took) in evaluation.ignored.drain(..) {
                let (policy, binding) = (&policy.metadata.name, &binding.metadata.name);
                policies.metrics.checked(policy, binding, "allow", Some(&why), took);
            }
            for refusal in evaluation.refusals.drain(..) {
                let denial = apply_actions(policies, policy, binding, attributes, refusal);
                denied = denied.or(denial);
            }
        }
        evaluation.annotations.record(&policy.metadata.name, &attributes.trail);
    }
    denied.map_or(Ok(()), Err)
}

fn is_bound(
    binding: &Arc<ValidatingAdmissionPolicyBinding>,
    policy: &ValidatingAdmissionPolicy,
    subject: &PolicyRequest<'_>,
) -> bool {
    let spec = &binding.spec;
    spec.policy_name == policy.metadata.name
        && spec.match_resources.as_deref().is_none_or(|resources| subject.matched(resources).is_some())
}

/// Applies the actions of a binding to a failed validation. Returns the error if the binding
/// denies.
fn apply_actions(
    policies: &Policies,
    policy: &ValidatingAdmissionPolicy,
    binding: &ValidatingAdmissionPolicyBinding,
    attributes: &AdmissionAttributes,
    refusal: Refusal,
) -> Option<Status> {
    let (policy, name) = (&policy.metadata.name, &binding.metadata.name);
    let has = |action: &str| binding.spec.validation_actions.iter().any(|a| a == action);
    let Refusal { message, reason, index, always, took } = refusal;
    let count = |action: &str| policies.metrics.checked(policy, name, action, Some(&message), took);
    if has(validation_action::AUDIT) && !always {
        count("audit");
        annotations::record_failure(binding, index, &message, &attributes.trail);
    }
    if has(validation_action::WARN) && !always {
        count("warn");
        let warning =
            format!("Validation failed for ValidatingAdmissionPolicy '{policy}' with binding '{name}': {message}");
        attributes.warnings.add(&warning);
    }
    if !has(validation_action::DENY) && !always {
        return None;
    }
    count("deny");
    let why = format!("ValidatingAdmissionPolicy '{policy}' with binding '{name}' denied request: {message}");
    Some(refused(forbidden(attributes, &why), &reason, why))
}

/// Evaluates a policy for one binding and adds the results to `evaluation`.
async fn evaluate_binding(
    policy: &ValidatingAdmissionPolicy,
    binding: &ValidatingAdmissionPolicyBinding,
    programs: &Programs,
    input: &Input,
    (subject, condition_metrics): (&PolicyRequest<'_>, MatchConditionMetrics<'_>),
    evaluation: &mut Evaluation,
) {
    let ignores = policy.spec.failure_policy.as_deref() == Some(failure_policy_type::IGNORE);
    let found = params::find(subject, policy.spec.param_kind.as_deref(), binding.spec.param_ref.as_deref()).await;
    let found = match found {
        Ok(found) => found,
        Err(_) if ignores => return,
        Err(why) => {
            return evaluation.refusals.push(Refusal::failed(&PolicyError::Params(why)));
        }
    };
    for param in &found {
        evaluate(programs, (input, param.as_ref()), ignores, condition_metrics, evaluation);
    }
}

fn evaluate(
    programs: &Programs,
    (input, param): (&Input, Option<&serde_json::Value>),
    ignores: bool,
    condition_metrics: MatchConditionMetrics<'_>,
    evaluation: &mut Evaluation,
) {
    let budget = &mut CostBudget::default();
    let Evaluation { refusals, annotations, ignored } = evaluation;
    let conditions = Activation::of_conditions(input, param);
    match conditions_hold(&programs.common.conditions, &conditions, budget, condition_metrics) {
        Ok(true) => {}
        Ok(false) => return,
        Err(_) if ignores => return,
        Err(why) => return refusals.push(Refusal::failed(&why)),
    }
    let activation = &Activation::new(input, param, &programs.common.variables);
    for (index, check) in programs.validations.iter().enumerate() {
        let began = Instant::now();
        let outcome = check.condition.evaluate(activation, budget);
        let took = began.elapsed();
        match outcome {
            Ok(Value::Bool(true)) => {}
            Ok(_) => {
                let message = message(check, activation, budget);
                refusals.push(Refusal { message, reason: check.reason.clone(), index, always: false, took });
            }
            Err(why) if ignores => ignored.push((why.to_string(), took)),
            Err(why) => refusals.push(Refusal { index, took, ..Refusal::failed(&why) }),
        }
    }
    for (key, value) in &programs.annotations {
        match value.evaluate(activation, budget) {
            Ok(Value::String(text)) => annotations.add(key, text.trim()),
            Ok(_) => {}
            Err(_) if ignores => {}
            Err(why) => refusals.push(Refusal { always: true, ..Refusal::failed(&why) }),
        }
    }
}

/// Returns the message of a failed validation: the result of the message expression if it is valid,
/// else the message, else the condition itself.
fn message<'a>(check: &'a Check, activation: &Activation<'a>, budget: &mut CostBudget) -> String {
    let result = check.message_expression.as_ref().and_then(|expression| expression.evaluate(activation, budget).ok());
    let result = result.as_ref().and_then(Value::as_str).map(str::trim);
    let valid = result.filter(|text| !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n'));
    match (valid, check.message.as_str()) {
        (Some(text), _) => text.to_owned(),
        (None, "") => format!("failed expression: {}", check.condition.source.trim()),
        (None, message) => message.to_owned(),
    }
}
