//! What a job makes of failed pods.

use std::collections::{BTreeSet, HashSet};

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::is_qualified_name;
use machinery::hooks::Validation;

use generated::batch::v1::{
    JobSpec, PodFailurePolicy, PodFailurePolicyOnExitCodesRequirement, PodFailurePolicyOnPodConditionsPattern,
    PodFailurePolicyRule,
};

const MAX_RULES: usize = 20;
const MAX_EXIT_CODES: usize = 255;
const MAX_CONDITIONS: usize = 20;
const ACTIONS: [&str; 4] = ["Count", "FailIndex", "FailJob", "Ignore"];
const OPERATORS: [&str; 2] = ["In", "NotIn"];
const STATUSES: [&str; 3] = ["False", "True", "Unknown"];

/// `validatePodFailurePolicy`
pub(super) fn validate_failure_policy(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &JobSpec,
    policy: &PodFailurePolicy,
) {
    let path = path.child("rules");
    if policy.rules.len() > MAX_RULES {
        v.too_many(&path, policy.rules.len(), MAX_RULES);
    }
    let containers = spec.template.spec.containers.iter().chain(&spec.template.spec.init_containers);
    let containers: HashSet<&str> = containers.map(|container| container.name.as_str()).collect();
    for (index, rule) in policy.rules.iter().enumerate() {
        validate_rule(v, &path.index(index), spec, &containers, rule);
    }
}

/// `validatePodFailurePolicyRule`
fn validate_rule(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &JobSpec,
    containers: &HashSet<&str>,
    rule: &PodFailurePolicyRule,
) {
    let action = path.child("action");
    if rule.action == "FailIndex" && spec.backoff_limit_per_index.is_none() {
        v.invalid(&action, BadValue::json_string(&rule.action), "requires the backoffLimitPerIndex to be set");
    }
    validate_choice(v, &action, &rule.action, &ACTIONS);
    if let Some(codes) = rule.on_exit_codes.as_deref() {
        validate_exit_codes(v, &path.child("onExitCodes"), containers, codes);
    }
    validate_conditions(v, &path.child("onPodConditions"), &rule.on_pod_conditions);
    match (rule.on_exit_codes.is_some(), rule.on_pod_conditions.is_empty()) {
        (true, false) => {
            let detail = "specifying both OnExitCodes and OnPodConditions is not supported";
            v.invalid(path, BadValue::Omitted, detail);
        }
        (false, true) => {
            let detail = "specifying one of OnExitCodes and OnPodConditions is required";
            v.invalid(path, BadValue::Omitted, detail);
        }
        _ => {}
    }
}

/// One of `known`, which are listed as well when it is missing.
fn validate_choice(v: &mut Validation<'_>, path: &Path<'_>, value: &str, known: &[&str]) {
    if value.is_empty() {
        let known: Vec<String> = known.iter().map(|known| format!("\"{known}\"")).collect();
        v.required(path, format!("valid values: [{}]", known.join(" ")));
    } else {
        v.one_of(path, value, known);
    }
}

/// `validatePodFailurePolicyRuleOnExitCodes`
fn validate_exit_codes(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    containers: &HashSet<&str>,
    codes: &PodFailurePolicyOnExitCodesRequirement,
) {
    validate_choice(v, &path.child("operator"), &codes.operator, &OPERATORS);
    if let Some(name) = codes.container_name.as_ref().filter(|name| !containers.contains(name.as_str())) {
        let detail = "must be one of the container or initContainer names in the pod template";
        v.invalid(&path.child("containerName"), name, detail);
    }
    let (path, values) = (path.child("values"), &codes.values);
    if values.is_empty() {
        v.invalid(&path, BadValue::None, "at least one value is required");
    } else if values.len() > MAX_EXIT_CODES {
        v.too_many(&path, values.len(), MAX_EXIT_CODES);
    }
    let mut seen = BTreeSet::new();
    for (index, code) in values.iter().enumerate() {
        let path = path.index(index);
        if codes.operator == "In" && *code == 0 {
            v.invalid(&path, *code, "must not be 0 for the In operator");
        }
        if !seen.insert(code) {
            v.duplicate(&path, *code);
        }
    }
    if !values.is_sorted() {
        let shown: Vec<String> = values.iter().map(i32::to_string).collect();
        v.invalid(&path, BadValue::Json(format!("[{}]", shown.join(","))), "must be ordered");
    }
}

/// `validatePodFailurePolicyRuleOnPodConditions`
fn validate_conditions(v: &mut Validation<'_>, path: &Path<'_>, conditions: &[PodFailurePolicyOnPodConditionsPattern]) {
    if conditions.len() > MAX_CONDITIONS {
        v.too_many(path, conditions.len(), MAX_CONDITIONS);
    }
    for (index, condition) in conditions.iter().enumerate() {
        let path = path.index(index);
        v.malformed(&path.child("type"), &condition.r#type, is_qualified_name(&condition.r#type));
        validate_choice(v, &path.child("status"), &condition.status, &STATUSES);
    }
}
