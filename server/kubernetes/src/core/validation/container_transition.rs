//! Checks that terminated containers do not run again unless they are restartable. Hand-written,
//! because allowed transitions depend on exit codes, rules and policies at three levels.

use std::collections::{BTreeMap, BTreeSet};

use machinery::features;
use machinery::field_path::Path;
use machinery::hooks::{Validation, WriteContext};
use machinery::json_name;
use machinery::options;

use generated::core::v1::{
    Container, ContainerRestartRule, ContainerStatus, Pod, PodSpec, PodStatus, container_restart_policy,
    container_restart_rule_action, container_restart_rule_on_exit_codes_operator, restart_policy,
};

const REFUSAL: &str = "may not be transitioned to non-terminated state";
const ALL_CONTAINERS: &str = container_restart_rule_action::RESTART_ALL_CONTAINERS;

/// `ValidateContainerStateTransition`, `ValidateInitContainerStateTransition`,
/// `ValidateEphemeralContainerStateTransition`
pub fn validate_container_states(v: &mut Validation<'_>, path: &Path<'_>, new: &Pod, old: Option<&Pod>) {
    let Some(old) = old else { return };
    let (path, status, was, spec) = (path.child(json_name!(Pod.status)), &new.status, &old.status, &old.spec);
    for (list, new, old, containers) in [
        ("containerStatuses", &status.container_statuses, &was.container_statuses, &spec.containers),
        ("initContainerStatuses", &status.init_container_statuses, &was.init_container_statuses, &spec.init_containers),
    ] {
        validate_transitions(v, &path.child(list), (new, old), (spec, containers));
    }
    let path = path.child(json_name!(PodStatus.ephemeral_container_statuses));
    let (running, old) = (running(&status.ephemeral_container_statuses), &was.ephemeral_container_statuses);
    for (index, _) in ended(old).filter(|(index, _)| running.contains(old[*index].name.as_str())) {
        v.forbidden(&path.index(index).child(json_name!(ContainerStatus.state)), REFUSAL);
    }
}

fn validate_transitions(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    (new, old): (&[ContainerStatus], &[ContainerStatus]),
    (spec, containers): (&PodSpec, &[Container]),
) {
    let by_rules = v.has_option(options::CONTAINER_RESTART_RULES);
    if by_rules && v.has_option(options::RESTART_ALL_CONTAINERS) && can_restart_all(spec) {
        return;
    }
    let all_restart = !by_rules && spec.restart_policy == restart_policy::ALWAYS;
    // Among containers of one name, the first one counts.
    let containers: BTreeMap<&str, &Container> = containers.iter().rev().map(|c| (c.name.as_str(), c)).collect();
    let running = running(new);
    for (index, code) in ended(old).filter(|_| !all_restart) {
        let name = &old[index].name;
        let container = containers.get(name.as_str()).copied();
        let restarts = match container {
            Some(container) if by_rules => is_restarted(v.context, container, spec, code),
            None if by_rules => false,
            _ => container.is_some_and(is_sidecar) || by_policy(&spec.restart_policy, code) == Some(true),
        };
        if !restarts && running.contains(name.as_str()) {
            v.forbidden(&path.index(index).child(json_name!(ContainerStatus.state)), REFUSAL);
        }
    }
}

/// Whether an init container keeps running beside the main containers.
pub(super) fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some(container_restart_policy::ALWAYS)
}

/// Indexes and exit codes of terminated containers.
fn ended(statuses: &[ContainerStatus]) -> impl Iterator<Item = (usize, i32)> {
    let codes = statuses.iter().map(|status| status.state.terminated.as_deref().map(|ended| ended.exit_code));
    codes.enumerate().filter_map(|(index, code)| code.map(|code| (index, code)))
}

/// Names of containers that have not terminated.
fn running(statuses: &[ContainerStatus]) -> BTreeSet<&str> {
    statuses.iter().filter(|status| status.state.terminated.is_none()).map(|status| status.name.as_str()).collect()
}

/// `AllContainersCouldRestart`
fn can_restart_all(spec: &PodSpec) -> bool {
    let mut rules = spec.init_containers.iter().chain(&spec.containers).flat_map(|c| &c.restart_policy_rules);
    rules.any(|rule| rule.action == ALL_CONTAINERS)
}

/// `ContainerShouldRestart`: by the first matching rule, else by the container's policy, else by the
/// pod's.
fn is_restarted(context: &WriteContext, container: &Container, spec: &PodSpec, code: i32) -> bool {
    if let Some(policy) = &container.restart_policy {
        let action = container.restart_policy_rules.iter().find(|rule| matches_rule(rule, code)).map(|r| &*r.action);
        let all = || context.enabled(features::RestartAllContainersOnContainerExits);
        if action == Some(container_restart_rule_action::RESTART) || (action == Some(ALL_CONTAINERS) && all()) {
            return true;
        }
        if let Some(restarts) = by_policy(policy, code) {
            return restarts;
        }
    }
    by_policy(&spec.restart_policy, code).unwrap_or(true)
}

fn matches_rule(rule: &ContainerRestartRule, code: i32) -> bool {
    rule.exit_codes.as_deref().is_some_and(|codes| match codes.operator.as_str() {
        container_restart_rule_on_exit_codes_operator::IN => codes.values.contains(&code),
        container_restart_rule_on_exit_codes_operator::NOT_IN => !codes.values.contains(&code),
        _ => false,
    })
}

fn by_policy(policy: &str, code: i32) -> Option<bool> {
    match policy {
        restart_policy::ALWAYS => Some(true),
        restart_policy::ON_FAILURE => Some(code != 0),
        restart_policy::NEVER => Some(false),
        _ => None,
    }
}
