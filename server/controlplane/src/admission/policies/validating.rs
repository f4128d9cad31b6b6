//! Validating policies.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cel::{Budget, Type, Value};
use endpoints::Attributes;
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
use super::super::metrics::Conditions;
use super::annotations::{self, Annotations};
use super::compiled::{Common, Expression, conditions_hold};
use super::input::{Activation, Input};
use super::matching::Subject;
use super::{Followed, Policies, not_converted, params, refused};

/// The longest message that an expression may make.
const MAX_MESSAGE: usize = 5 * 1024;

/// The programs of a policy.
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
                .filter(|said| !said.is_empty())
                .map(|said| Expression::new(said, &common.messages, &[Type::String])),
            reason: validation.reason.clone().unwrap_or_default(),
        };
        let validations = spec.validations.iter().map(check).collect();
        let annotation = |said: &AuditAnnotation| {
            let value = Expression::new(&said.value_expression, &common.environment, &[Type::String, Type::Null]);
            (said.key.clone(), value)
        };
        let annotations = spec.audit_annotations.iter().map(annotation).collect();
        Programs { common, validations, annotations }
    }
}

/// Why an object is not wanted.
struct Refusal {
    message: String,
    reason: String,
    /// Which of the validations refuses it.
    index: usize,
    /// Whether it is refused whatever the binding says.
    always: bool,
    /// How long it took to find out.
    took: Duration,
}

impl Refusal {
    fn failed(message: String) -> Self {
        Refusal { message, reason: String::new(), index: 0, always: false, took: Duration::ZERO }
    }
}

/// What the bindings of a policy have to say about a request.
#[derive(Default)]
struct Judgement {
    refusals: Vec<Refusal>,
    annotations: Annotations,
    /// Errors of validations that the policy ignores, and how long each took.
    ignored: Vec<(String, Duration)>,
}

/// Evaluates all policies that are about a request.
pub async fn run(
    policies: &Policies,
    followed: &Followed<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding>,
    attributes: &Attributes,
    object: Option<&Owned>,
    old: Option<&Owned>,
) -> Result<(), Status> {
    let all = followed.policies.all();
    if all.is_empty() {
        return Ok(());
    }
    let namespace = find(&policies.environment, attributes, ("", "namespaces"), ("", &attributes.namespace)).await?;
    let subject = Subject { environment: &policies.environment, attributes, object, old, namespace };
    let mut denied = None;
    for policy in &all {
        let matched = policy.spec.match_constraints.as_deref().and_then(|constraints| subject.matched(constraints));
        let Some(seen) = matched else { continue };
        let bindings = followed.bindings.all();
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
                let (name, why) = (&policy.metadata.name, not_converted(&status));
                let why = format!("ValidatingAdmissionPolicy '{name}' denied request: {why}");
                denied = denied.or_else(|| Some(refused(forbidden(attributes, &why), "", why)));
                continue;
            }
        };
        let mut judgement = Judgement::default();
        for binding in own {
            let noted = policies.metrics.of_policy(&policy.metadata.name, attributes.operation);
            judge(policy, binding, &programs, &input, (&subject, noted), &mut judgement).await;
            for (why, took) in judgement.ignored.drain(..) {
                let (policy, binding) = (&policy.metadata.name, &binding.metadata.name);
                policies.metrics.checked(policy, binding, "allow", Some(&why), took);
            }
            for refusal in judgement.refusals.drain(..) {
                let said = tell(policies, policy, binding, attributes, refusal);
                denied = denied.or(said);
            }
        }
        judgement.annotations.tell(&policy.metadata.name, &attributes.trail);
    }
    denied.map_or(Ok(()), Err)
}

fn is_bound(
    binding: &Arc<ValidatingAdmissionPolicyBinding>,
    policy: &ValidatingAdmissionPolicy,
    subject: &Subject<'_>,
) -> bool {
    let spec = &binding.spec;
    spec.policy_name == policy.metadata.name
        && spec.match_resources.as_deref().is_none_or(|resources| subject.matched(resources).is_some())
}

/// Does what a binding says about a refusal; the answer to the writer when it denies.
fn tell(
    policies: &Policies,
    policy: &ValidatingAdmissionPolicy,
    binding: &ValidatingAdmissionPolicyBinding,
    attributes: &Attributes,
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

/// What a binding's evaluations have against an object, and note of it.
async fn judge(
    policy: &ValidatingAdmissionPolicy,
    binding: &ValidatingAdmissionPolicyBinding,
    programs: &Programs,
    input: &Input,
    (subject, noted): (&Subject<'_>, Conditions<'_>),
    judgement: &mut Judgement,
) {
    let ignores = policy.spec.failure_policy.as_deref() == Some(failure_policy_type::IGNORE);
    let found = params::find(subject, policy.spec.param_kind.as_deref(), binding.spec.param_ref.as_deref()).await;
    let found = match found {
        Ok(found) => found,
        Err(_) if ignores => return,
        Err(why) => {
            return judgement.refusals.push(Refusal::failed(format!("failed to configure binding: {why}")));
        }
    };
    for param in &found {
        evaluate(programs, (input, param.as_ref()), ignores, noted, judgement);
    }
}

fn evaluate(
    programs: &Programs,
    (input, param): (&Input, Option<&serde_json::Value>),
    ignores: bool,
    noted: Conditions<'_>,
    judgement: &mut Judgement,
) {
    let budget = &mut Budget::default();
    let Judgement { refusals, annotations, ignored } = judgement;
    let conditions = Activation::of_conditions(input, param);
    match conditions_hold(&programs.common.conditions, &conditions, budget, noted) {
        Ok(true) => {}
        Ok(false) => return,
        Err(_) if ignores => return,
        Err(why) => return refusals.push(Refusal::failed(why)),
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
            Err(why) if ignores => ignored.push((why, took)),
            Err(why) => refusals.push(Refusal { index, took, ..Refusal::failed(why) }),
        }
    }
    for (key, value) in &programs.annotations {
        match value.evaluate(activation, budget) {
            Ok(Value::String(text)) => annotations.add(key, text.trim()),
            Ok(_) => {}
            Err(_) if ignores => {}
            Err(why) => refusals.push(Refusal { always: true, ..Refusal::failed(why) }),
        }
    }
}

/// What is said about a failed check: the expression's text when it makes a good one, else the message, else the expression itself.
fn message<'a>(check: &'a Check, activation: &Activation<'a>, budget: &mut Budget) -> String {
    let made = check.message_expression.as_ref().and_then(|said| said.evaluate(activation, budget).ok());
    let made = made.as_ref().and_then(Value::as_str).map(str::trim);
    let good = made.filter(|text| !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n'));
    match (good, check.message.as_str()) {
        (Some(text), _) => text.to_owned(),
        (None, "") => format!("failed expression: {}", check.condition.source.trim()),
        (None, message) => message.to_owned(),
    }
}
