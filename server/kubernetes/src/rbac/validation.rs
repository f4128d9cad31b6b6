//! What upstream checks in roles and bindings (`pkg/apis/rbac/validation`) and definitions do not say.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use meta::{SelectorOptions, is_valid_selector, validate_label_selector_with};

use generated::rbac::v1::ClusterRole;
pub use meta::validate_whole_metadata_update;

/// The selectors of an aggregated role. Those of a stored one allow the new ones to ask for values that no label has.
pub fn validate_aggregation(v: &mut Validation<'_>, path: &Path<'_>, new: &ClusterRole, old: Option<&ClusterRole>) {
    let Some(rule) = &new.aggregation_rule else { return };
    let stored = old.and_then(|old| old.aggregation_rule.as_deref());
    let any_values = stored.is_some_and(|rule| rule.cluster_role_selectors.iter().any(|one| !is_valid_selector(one)));
    let options = SelectorOptions { allow_invalid_values: any_values, ..SelectorOptions::default() };
    let path = path.child("aggregationRule.clusterRoleSelectors");
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
