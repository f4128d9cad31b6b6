//! The scopes of resource quotas. By hand: a table of scopes and resources, and errors that show a list once for each
//! resource.

use std::collections::BTreeSet;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::resource::is_resource_of_quotas;
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::reflect::Ref;

use crate::core::internal::internal_value;
use generated::core::v1::{
    ResourceQuota, ResourceQuotaSpec, ScopeSelector, ScopedResourceSelectorRequirement, resource_name,
    resource_quota_scope,
};

const OF_PODS: [&str; 7] = [
    "pods",
    resource_name::CPU,
    resource_name::MEMORY,
    resource_name::LIMITS_CPU,
    resource_name::LIMITS_MEMORY,
    resource_name::REQUESTS_CPU,
    resource_name::REQUESTS_MEMORY,
];
const OF_CLAIMS: [&str; 2] = ["persistentvolumeclaims", resource_name::REQUESTS_STORAGE];

type Quota = ResourceQuota;
type Spec = ResourceQuotaSpec;

/// The scopes stay, in any order.
pub fn validate_scopes_change(v: &mut Validation<'_>, path: &Path<'_>, new: &Quota, old: Option<&Quota>) {
    let set = |quota: &Quota| quota.spec.scopes.iter().cloned().collect::<BTreeSet<_>>();
    if old.is_some_and(|old| set(old) != set(new)) {
        v.invalid(
            &path.child(json_name!(ResourceQuota.spec)).child(json_name!(ResourceQuotaSpec.scopes)),
            BadValue::strings(&new.spec.scopes),
            "field is immutable",
        );
    }
}

/// The scopes are known, and have something to do with what is limited.
pub fn validate_scopes(v: &mut Validation<'_>, path: &Path<'_>, spec: &Spec, _: Option<&Spec>) {
    let (path, shown) = (&path.child(json_name!(ResourceQuotaSpec.scopes)), BadValue::strings(&spec.scopes));
    for scope in &spec.scopes {
        validate_scope(v, spec, scope, (path, shown.clone()), (path, shown.clone()));
    }
}

/// Likewise the scopes of a selector.
pub fn validate_scope_selector(v: &mut Validation<'_>, path: &Path<'_>, spec: &Spec, _: Option<&Spec>) {
    let Some(selector) = spec.scope_selector.as_deref() else { return };
    let path = path.child(json_name!(ResourceQuotaSpec.scope_selector));
    let path = &path.child(json_name!(ScopeSelector.match_expressions));
    for requirement in &selector.match_expressions {
        let scope = &requirement.scope_name;
        let unknown =
            (&path.child(json_name!(ScopedResourceSelectorRequirement.scope_name)), BadValue::json_string(scope));
        validate_scope(v, spec, scope, unknown, (path, internal_value(selector)));
        v.checks(path, Ref::of(requirement), None);
    }
}

/// Reports an unknown scope at one place, and resources that it does not cover at another
/// (`IsResourceQuotaScopeValidForResource`).
fn validate_scope(
    v: &mut Validation<'_>,
    spec: &Spec,
    scope: &str,
    unknown: (&Path<'_>, BadValue),
    other: (&Path<'_>, BadValue),
) {
    use resource_quota_scope::*;
    let covered: &[&str] = match scope {
        TERMINATING | NOT_TERMINATING | NOT_BEST_EFFORT | PRIORITY_CLASS | CROSS_NAMESPACE_POD_AFFINITY => &OF_PODS,
        BEST_EFFORT => &["pods"],
        VOLUME_ATTRIBUTES_CLASS => &OF_CLAIMS,
        _ => return v.invalid(unknown.0, unknown.1, "unsupported scope"),
    };
    for name in spec.hard.keys() {
        if is_resource_of_quotas(name) && !covered.contains(&name.as_str()) {
            v.invalid(other.0, other.1.clone(), "unsupported scope applied to resource");
        }
    }
}
