//! Resource quotas. By hand: scopes and resources are tables that are compared with each other.

use std::collections::{BTreeMap, BTreeSet};

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;
use machinery::scalar::Quantity;

use super::resources::{is_huge_pages, validate_resource_name, validate_resource_quantity};
use crate::core::internal::internal_value;
use generated::core::v1::{ResourceQuota, ResourceQuotaSpec, ResourceQuotaStatus, resource_quota_scope};

/// The resources that quotas know by name.
#[rustfmt::skip]
const STANDARD: [&str; 19] = [
    "cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.storage", "requests.ephemeral-storage",
    "limits.cpu", "limits.memory", "limits.ephemeral-storage", "pods", "resourcequotas", "services", "replicationcontrollers",
    "secrets", "persistentvolumeclaims", "configmaps", "services.nodeports", "services.loadbalancers",
];
const OF_PODS: [&str; 7] = ["pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];
const OF_CLAIMS: [&str; 2] = ["persistentvolumeclaims", "requests.storage"];

/// Scopes of which a quota may have one.
const CONFLICTS: [[&str; 2]; 2] = [
    [resource_quota_scope::BEST_EFFORT, resource_quota_scope::NOT_BEST_EFFORT],
    [resource_quota_scope::TERMINATING, resource_quota_scope::NOT_TERMINATING],
];

/// `ValidateResourceQuota`, `ValidateResourceQuotaUpdate`, `ValidateResourceQuotaStatusUpdate`
pub fn validate_resource_quota(v: &mut Validation<'_>, _: &Path<'_>, new: &ResourceQuota, old: Option<&ResourceQuota>) {
    let (spec, status) = (Path::new("spec"), Path::new("status"));
    if v.context.subresource != "status" {
        validate_spec(v, &spec, &new.spec);
    }
    match old {
        Some(old) if v.context.subresource.is_empty() => {
            let sets = [old, new].map(|quota| quota.spec.scopes.iter().collect::<BTreeSet<_>>());
            if sets[0] != sets[1] {
                v.invalid(&spec.child("scopes"), BadValue::strings(&new.spec.scopes), "field is immutable");
            }
        }
        _ => validate_status(v, &status, &new.status),
    }
}

fn validate_status(v: &mut Validation<'_>, path: &Path<'_>, status: &ResourceQuotaStatus) {
    validate_amounts(v, &path.child("hard"), &status.hard);
    validate_amounts(v, &path.child("used"), &status.used);
}

fn validate_amounts(v: &mut Validation<'_>, path: &Path<'_>, amounts: &BTreeMap<String, Quantity>) {
    for (name, amount) in amounts {
        let path = path.key(name);
        validate_resource_name(v, &path, name);
        if !name.contains('/') && !is_standard(name) {
            v.invalid(&path, BadValue::json_string(name), "must be a standard resource for quota");
        }
        validate_resource_quantity(v, &path, name, amount);
    }
}

fn is_standard(name: &str) -> bool {
    STANDARD.contains(&name) || is_huge_pages(name) || name.starts_with("requests.hugepages-")
}

fn validate_spec(v: &mut Validation<'_>, path: &Path<'_>, spec: &ResourceQuotaSpec) {
    validate_amounts(v, &path.child("hard"), &spec.hard);
    let (scopes, shown) = (path.child("scopes"), BadValue::strings(&spec.scopes));
    for scope in &spec.scopes {
        if !is_known(scope) {
            v.invalid(&scopes, shown.clone(), "unsupported scope");
        }
        for _ in out_of_scope(spec, scope) {
            v.invalid(&scopes, shown.clone(), "unsupported scope applied to resource");
        }
    }
    validate_conflicts(v, &scopes, spec.scopes.iter().map(String::as_str).collect(), &shown);
    if let Some(selector) = spec.scope_selector.as_deref() {
        let path = path.child("scopeSelector");
        let path = path.child("matchExpressions");
        for requirement in &selector.match_expressions {
            let scope = &requirement.scope_name;
            if !is_known(scope) {
                v.invalid(&path.child("scopeName"), BadValue::json_string(scope), "unsupported scope");
            }
            for _ in out_of_scope(spec, scope) {
                v.invalid(&path, internal_value(selector), "unsupported scope applied to resource");
            }
            v.checks(&path, Ref::of(requirement), None);
        }
        let scopes = selector.match_expressions.iter().map(|r| r.scope_name.as_str()).collect();
        validate_conflicts(v, &path, scopes, &shown);
    }
}

fn is_known(scope: &str) -> bool {
    use resource_quota_scope::*;
    let known = [
        TERMINATING,
        NOT_TERMINATING,
        BEST_EFFORT,
        NOT_BEST_EFFORT,
        PRIORITY_CLASS,
        CROSS_NAMESPACE_POD_AFFINITY,
        VOLUME_ATTRIBUTES_CLASS,
    ];
    known.contains(&scope)
}

/// Limited resources that the scope says nothing about (`IsResourceQuotaScopeValidForResource`).
fn out_of_scope<'s>(spec: &'s ResourceQuotaSpec, scope: &str) -> impl Iterator<Item = &'s String> {
    use resource_quota_scope::*;
    let allowed: Option<&[&str]> = match scope {
        TERMINATING | NOT_TERMINATING | NOT_BEST_EFFORT | PRIORITY_CLASS | CROSS_NAMESPACE_POD_AFFINITY => {
            Some(&OF_PODS)
        }
        BEST_EFFORT => Some(&["pods"]),
        VOLUME_ATTRIBUTES_CLASS => Some(&OF_CLAIMS),
        _ => None,
    };
    spec.hard
        .keys()
        .filter(move |name| is_standard(name) && allowed.is_some_and(|allowed| !allowed.contains(&name.as_str())))
}

fn validate_conflicts(v: &mut Validation<'_>, path: &Path<'_>, scopes: BTreeSet<&str>, shown: &BadValue) {
    for pair in CONFLICTS {
        if pair.iter().all(|scope| scopes.contains(scope)) {
            v.invalid(path, shown.clone(), "conflicting scopes");
        }
    }
}
