//! When single containers are restarted, whatever their pod's policy says.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;

use super::options::PodOptions;
use generated::core::v1::{Container, ContainerRestartRule};

const POLICIES: [&str; 3] = ["Always", "Never", "OnFailure"];
const ACTIONS: [&str; 2] = ["Restart", "RestartAllContainers"];
const OPERATORS: [&str; 2] = ["In", "NotIn"];
const MAX_RULES: usize = 20;
const MAX_EXIT_CODES: usize = 255;

/// `validateInitContainerRestartPolicy`
pub(super) fn validate_init_restart_policy(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    container: &Container,
    options: &PodOptions,
) {
    let (policy, rules) = (container.restart_policy.as_deref(), &container.restart_policy_rules);
    match policy {
        None if !rules.is_empty() => require_policy(v, path),
        None => {}
        Some("Always") if !options.container_restart_rules => {}
        Some(other) if !options.container_restart_rules => {
            v.not_supported(&path.child("restartPolicy"), BadValue::json_string(other), &["Always"]);
        }
        Some("Always") if !options.restart_all_containers && rules.is_empty() => {}
        Some("Always") if !options.restart_all_containers => {
            let detail = "restartPolicyRules are not allowed for init containers with restart policy Always";
            v.forbidden(&path.child("restartPolicyRules"), detail);
        }
        Some(_) => validate_restart_policy(v, path, policy, rules, options),
    }
}

fn require_policy(v: &mut Validation<'_>, path: &Path<'_>) {
    v.required(&path.child("restartPolicy"), "must specify restartPolicy when restart rules are used");
}

/// `validateContainerRestartPolicy`
pub(super) fn validate_restart_policy(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    policy: Option<&str>,
    rules: &[ContainerRestartRule],
    options: &PodOptions,
) {
    match policy {
        None if rules.is_empty() => return,
        None => require_policy(v, path),
        Some(policy) => v.one_of(&path.child("restartPolicy"), policy, &POLICIES),
    }
    let path = path.child("restartPolicyRules");
    if rules.len() > MAX_RULES {
        v.too_many(&path, rules.len(), MAX_RULES);
    }
    for (index, rule) in rules.iter().enumerate() {
        validate_rule(v, &path.index(index), rule, options);
    }
}

fn validate_rule(v: &mut Validation<'_>, path: &Path<'_>, rule: &ContainerRestartRule, options: &PodOptions) {
    let known = if options.restart_all_containers { &ACTIONS } else { &ACTIONS[..1] };
    if !known.contains(&rule.action.as_str()) {
        v.not_supported(&path.child("action"), BadValue::json_string(&rule.action), known);
    }
    let path = path.child("exitCodes");
    match rule.exit_codes.as_deref() {
        None => v.required(&path, "must be specified"),
        Some(codes) => {
            v.one_of(&path.child("operator"), &codes.operator, &OPERATORS);
            if codes.values.len() > MAX_EXIT_CODES {
                v.too_many(&path.child("values"), codes.values.len(), MAX_EXIT_CODES);
            }
        }
    }
}
