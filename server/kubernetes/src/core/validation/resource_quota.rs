//! Validation of the scopes of resource quotas. Hand-written, because it needs a table of scopes and
//! resources, and errors show a list once for each resource.

use std::collections::{BTreeSet, HashMap};

use machinery::field_error::{BadValue, is_full};
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

/// Checks that the set of scopes is unchanged.
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

/// Checks that scopes are known and apply to the limited resources.
pub fn validate_scopes(v: &mut Validation<'_>, path: &Path<'_>, spec: &Spec, _: Option<&Spec>) {
    let (path, shown) = (&path.child(json_name!(ResourceQuotaSpec.scopes)), || BadValue::strings(&spec.scopes));
    let mut scopes = Scopes::new(spec);
    for scope in &spec.scopes {
        scopes.validate(v, scope, (path, &shown), (path, &shown));
    }
}

/// The same for the scopes of a selector.
pub fn validate_scope_selector(v: &mut Validation<'_>, path: &Path<'_>, spec: &Spec, _: Option<&Spec>) {
    let Some(selector) = spec.scope_selector.as_deref() else { return };
    let path = path.child(json_name!(ResourceQuotaSpec.scope_selector));
    let path = &path.child(json_name!(ScopeSelector.match_expressions));
    let mut scopes = Scopes::new(spec);
    for requirement in &selector.match_expressions {
        let scope = &requirement.scope_name;
        let (unknown, shown) = (|| BadValue::json_string(scope), || internal_value(selector));
        let name = &path.child(json_name!(ScopedResourceSelectorRequirement.scope_name));
        scopes.validate(v, scope, (name, &unknown), (path, &shown));
        v.checks(path, Ref::of(requirement), None);
    }
}

/// The path of an error and its value, which is computed only for an error.
type Shown<'a> = (&'a Path<'a>, &'a dyn Fn() -> BadValue);

/// The limited resources that the scopes of a quota do not cover
/// (`IsResourceQuotaScopeValidForResource`).
struct Scopes<'s> {
    spec: &'s Spec,
    /// Uncovered resources by scope; cached, because a quota may repeat a few scopes many times.
    uncovered: HashMap<&'s str, Vec<&'s str>>,
}

impl<'s> Scopes<'s> {
    fn new(spec: &'s Spec) -> Self {
        Scopes { spec, uncovered: HashMap::new() }
    }

    /// Reports an unknown scope at one path, and each resource that a known scope does not cover at
    /// another.
    fn validate(&mut self, v: &mut Validation<'_>, scope: &'s str, unknown: Shown<'_>, other: Shown<'_>) {
        let Some(covered) = covered(scope) else {
            return v.invalid(unknown.0, unknown.1(), "unsupported scope");
        };
        let uncovered = self.uncovered.entry(scope).or_insert_with(|| {
            let names = self.spec.hard.keys().map(String::as_str);
            names.filter(|name| is_resource_of_quotas(name) && !covered.contains(name)).collect()
        });
        for _ in uncovered.iter().take_while(|_| !is_full()) {
            v.invalid(other.0, other.1(), "unsupported scope applied to resource");
        }
    }
}

/// The resources that a scope covers; `None` for an unknown scope.
fn covered(scope: &str) -> Option<&'static [&'static str]> {
    use resource_quota_scope::*;
    Some(match scope {
        TERMINATING | NOT_TERMINATING | NOT_BEST_EFFORT | PRIORITY_CLASS | CROSS_NAMESPACE_POD_AFFINITY => &OF_PODS,
        BEST_EFFORT => &["pods"],
        VOLUME_ATTRIBUTES_CLASS => &OF_CLAIMS,
        _ => return None,
    })
}
