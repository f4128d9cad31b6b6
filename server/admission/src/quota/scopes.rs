//! Scopes of quotas.

use generated::core::v1::{
    Affinity, PersistentVolumeClaim, Pod, ResourceQuota, ScopedResourceSelectorRequirement, pod_qos_class,
    resource_quota_scope, scope_selector_operator,
};
use machinery::reflect::Owned;

/// Whether all scopes of a quota match an object.
pub fn select(quota: &ResourceQuota, object: &Owned) -> bool {
    requirements(quota).all(|requirement| matches_scope(&requirement, object))
}

/// Returns the scopes of both fields of a quota.
pub fn requirements(quota: &ResourceQuota) -> impl Iterator<Item = ScopedResourceSelectorRequirement> {
    let plain = quota.spec.scopes.iter().map(|scope| ScopedResourceSelectorRequirement {
        scope_name: scope.clone(),
        operator: scope_selector_operator::EXISTS.into(),
        values: Vec::new(),
    });
    let expressions = quota.spec.scope_selector.iter().flat_map(|selector| selector.match_expressions.clone());
    plain.chain(expressions)
}

/// Whether a pod has an active deadline (`IsTerminating`).
pub fn is_terminating(pod: &Pod) -> bool {
    pod.spec.active_deadline_seconds.is_some_and(|seconds| seconds >= 0)
}

/// Whether a scope matches an object.
pub fn matches_scope(requirement: &ScopedResourceSelectorRequirement, object: &Owned) -> bool {
    if let Some(claim) = object.downcast_ref::<PersistentVolumeClaim>() {
        return requirement.scope_name == resource_quota_scope::VOLUME_ATTRIBUTES_CLASS
            && compares_any(requirement, &volume_attributes_classes(claim));
    }
    let Some(pod) = object.downcast_ref::<Pod>() else { return false };
    let best_effort = pod.status.qos_class == pod_qos_class::BEST_EFFORT;
    match requirement.scope_name.as_str() {
        resource_quota_scope::TERMINATING => is_terminating(pod),
        resource_quota_scope::NOT_TERMINATING => !is_terminating(pod),
        resource_quota_scope::BEST_EFFORT => best_effort,
        resource_quota_scope::NOT_BEST_EFFORT => !best_effort,
        resource_quota_scope::PRIORITY_CLASS => compares(requirement, &pod.spec.priority_class_name),
        resource_quota_scope::CROSS_NAMESPACE_POD_AFFINITY => {
            pod.spec.affinity.as_deref().is_some_and(reaches_other_namespaces)
        }
        _ => false,
    }
}

/// Returns the requested, the current, and the target class of a claim.
fn volume_attributes_classes(claim: &PersistentVolumeClaim) -> Vec<&str> {
    let changing = claim.status.modify_volume_status.as_deref();
    let names = [
        claim.spec.volume_attributes_class_name.as_deref(),
        claim.status.current_volume_attributes_class_name.as_deref(),
        changing.map(|status| status.target_volume_attributes_class_name.as_str()),
    ];
    names.into_iter().flatten().filter(|name| !name.is_empty()).collect()
}

fn compares_any(requirement: &ScopedResourceSelectorRequirement, values: &[&str]) -> bool {
    match values {
        [] => compares(requirement, ""),
        values => values.iter().any(|value| compares(requirement, value)),
    }
}

/// Whether a requirement holds for a name. An empty name means that the name is unset.
fn compares(requirement: &ScopedResourceSelectorRequirement, value: &str) -> bool {
    let listed = requirement.values.iter().any(|v| v == value);
    match requirement.operator.as_str() {
        scope_selector_operator::IN => listed,
        scope_selector_operator::NOT_IN => !listed,
        scope_selector_operator::EXISTS => !value.is_empty(),
        scope_selector_operator::DOES_NOT_EXIST => value.is_empty(),
        _ => false,
    }
}

fn reaches_other_namespaces(affinity: &Affinity) -> bool {
    let near = affinity.pod_affinity.iter().flat_map(|a| {
        let preferred = a.preferred_during_scheduling_ignored_during_execution.iter().map(|t| &t.pod_affinity_term);
        a.required_during_scheduling_ignored_during_execution.iter().chain(preferred)
    });
    let far = affinity.pod_anti_affinity.iter().flat_map(|a| {
        let preferred = a.preferred_during_scheduling_ignored_during_execution.iter().map(|t| &t.pod_affinity_term);
        a.required_during_scheduling_ignored_during_execution.iter().chain(preferred)
    });
    near.chain(far).any(|term| !term.namespaces.is_empty() || term.namespace_selector.is_some())
}

#[cfg(test)]
mod tests;
