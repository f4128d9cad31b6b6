//! What a job makes of failed pods.

use std::collections::{BTreeSet, HashSet};

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use generated::batch::v1::{JobSpec, PodFailurePolicyOnExitCodesRequirement, PodFailurePolicyRule};

/// By hand: names are looked up in the template, and whether indexes can fail stands in the spec.
pub fn validate_failure_rules(v: &mut Validation<'_>, path: &Path<'_>, new: &JobSpec, _: Option<&JobSpec>) {
    let Some(policy) = new.pod_failure_policy.as_deref() else { return };
    let (path, template) = (path.child("podFailurePolicy"), &new.template.spec);
    let path = path.child("rules");
    let containers = template.containers.iter().chain(&template.init_containers);
    let containers: HashSet<&str> = containers.map(|container| container.name.as_str()).collect();
    for (index, rule) in policy.rules.iter().enumerate() {
        let path = path.index(index);
        if rule.action == "FailIndex" && new.backoff_limit_per_index.is_none() {
            let detail = "requires the backoffLimitPerIndex to be set";
            v.invalid(&path.child("action"), BadValue::json_string(&rule.action), detail);
        }
        v.checks(&path, Ref::of(rule), None);
        if let Some(codes) = rule.on_exit_codes.as_deref() {
            let path = path.child("onExitCodes");
            if let Some(name) = codes.container_name.as_ref().filter(|name| !containers.contains(name.as_str())) {
                let detail = "must be one of the container or initContainer names in the pod template";
                v.invalid(&path.child("containerName"), name, detail);
            }
            v.checks_of("values", &path, Ref::of(codes), None);
        }
        v.checks_of("conditions", &path, Ref::of(rule), None);
    }
}

/// By hand: the messages show no value.
pub fn validate_criteria(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PodFailurePolicyRule,
    _: Option<&PodFailurePolicyRule>,
) {
    let detail = match (new.on_exit_codes.is_some(), !new.on_pod_conditions.is_empty()) {
        (true, true) => "specifying both OnExitCodes and OnPodConditions is not supported",
        (false, false) => "specifying one of OnExitCodes and OnPodConditions is required",
        _ => return,
    };
    v.invalid(path, BadValue::Omitted, detail);
}

/// By hand: each code is compared with the operator and with the code before it.
pub fn validate_exit_codes(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PodFailurePolicyOnExitCodesRequirement,
    _: Option<&PodFailurePolicyOnExitCodesRequirement>,
) {
    let (path, values, mut seen) = (path.child("values"), &new.values, BTreeSet::new());
    for (index, code) in values.iter().enumerate() {
        let path = path.index(index);
        if new.operator == "In" && *code == 0 {
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
