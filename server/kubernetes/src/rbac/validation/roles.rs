//! Roles.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use meta::{SelectorOptions, is_valid_selector, validate_label_selector_with, validate_whole_object_meta_update};

use generated::rbac::v1::{AggregationRule, ClusterRole, PolicyRule, Role};

/// `ValidateRole`, `ValidateRoleUpdate`
pub fn validate_role(v: &mut Validation<'_>, path: &Path<'_>, role: &Role, old: Option<&Role>) {
    validate_rules(v, &path.child("rules"), &role.rules, true);
    if let Some(old) = old {
        validate_whole_object_meta_update(v, &role.metadata, &old.metadata);
    }
}

/// `ValidateClusterRole`, `ValidateClusterRoleUpdate`
pub fn validate_cluster_role(v: &mut Validation<'_>, path: &Path<'_>, role: &ClusterRole, old: Option<&ClusterRole>) {
    validate_rules(v, &path.child("rules"), &role.rules, false);
    if let Some(aggregation) = &role.aggregation_rule {
        let stored = old.and_then(|old| old.aggregation_rule.as_deref());
        let any_values = stored.is_some_and(|rule| rule.cluster_role_selectors.iter().any(|s| !is_valid_selector(s)));
        let options = SelectorOptions { allow_invalid_values: any_values, ..SelectorOptions::default() };
        validate_aggregation(v, &path.child("aggregationRule"), aggregation, options);
    }
    if let Some(old) = old {
        validate_whole_object_meta_update(v, &role.metadata, &old.metadata);
    }
}

fn validate_aggregation(v: &mut Validation<'_>, path: &Path<'_>, rule: &AggregationRule, options: SelectorOptions) {
    let path = path.child("clusterRoleSelectors");
    if rule.cluster_role_selectors.is_empty() {
        v.required(&path, "at least one clusterRoleSelector required if aggregationRule is non-nil");
    }
    for (index, selector) in rule.cluster_role_selectors.iter().enumerate() {
        let path = path.index(index);
        validate_label_selector_with(v, &path, selector, options);
        if !is_valid_selector(selector) {
            v.invalid(&path, BadValue::None, "invalid label selector.");
        }
    }
}

/// `ValidatePolicyRule` for each.
fn validate_rules(v: &mut Validation<'_>, path: &Path<'_>, rules: &[PolicyRule], namespaced: bool) {
    for (index, rule) in rules.iter().enumerate() {
        validate_rule(v, &path.index(index), rule, namespaced);
    }
}

fn validate_rule(v: &mut Validation<'_>, path: &Path<'_>, rule: &PolicyRule, namespaced: bool) {
    if rule.verbs.is_empty() {
        v.required(&path.child("verbs"), "verbs must contain at least one value");
    }
    if !rule.non_resource_urls.is_empty() {
        return validate_urls(v, &path.child("nonResourceURLs"), rule, namespaced);
    }
    if rule.api_groups.is_empty() {
        v.required(&path.child("apiGroups"), "resource rules must supply at least one api group");
    }
    if rule.resources.is_empty() {
        v.required(&path.child("resources"), "resource rules must supply at least one resource");
    }
}

fn validate_urls(v: &mut Validation<'_>, path: &Path<'_>, rule: &PolicyRule, namespaced: bool) {
    let shown = || BadValue::strings(&rule.non_resource_urls);
    if namespaced {
        v.invalid(path, shown(), "namespaced rules cannot apply to non-resource URLs");
    }
    if !(rule.api_groups.is_empty() && rule.resources.is_empty() && rule.resource_names.is_empty()) {
        v.invalid(path, shown(), "rules cannot apply to both regular resources and non-resource URLs");
    }
}
