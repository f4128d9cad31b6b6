//! What upstream checks in disruption budgets (`pkg/apis/policy/validation`) and definitions do not say.

use machinery::field_path::Path;
use machinery::hooks::Validation;
use meta::{SelectorOptions, is_valid_selector, validate_label_selector_with};

use generated::policy::v1::{PodDisruptionBudget, PodDisruptionBudgetStatus};

/// The pods of a budget. By hand: a stored selector may ask for values that no label has, and then the new one may.
pub fn validate_selector(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PodDisruptionBudget,
    old: Option<&PodDisruptionBudget>,
) {
    let Some(selector) = &new.spec.selector else { return };
    let any_values = old.and_then(|old| old.spec.selector.as_deref()).is_some_and(|stored| !is_valid_selector(stored));
    let options = SelectorOptions { allow_invalid_values: any_values, ..SelectorOptions::default() };
    validate_label_selector_with(v, &path.child("spec.selector"), selector, options);
}

/// By hand: nothing was asked of the numbers when v1beta1 was new.
pub fn validate_counts(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    status: &PodDisruptionBudgetStatus,
    _: Option<&PodDisruptionBudgetStatus>,
) {
    if v.context.version == "v1beta1" {
        return;
    }
    v.not_negative(&path.child("disruptionsAllowed"), status.disruptions_allowed);
    v.not_negative(&path.child("currentHealthy"), status.current_healthy);
    v.not_negative(&path.child("desiredHealthy"), status.desired_healthy);
    v.not_negative(&path.child("expectedPods"), status.expected_pods);
}
