//! What upstream checks by hand in disruption budgets (`pkg/apis/policy/validation`).

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format;
use machinery::hooks::Validation;
use machinery::scalar::IntOrString;
use meta::{SelectorOptions, is_valid_selector, validate_conditions, validate_label_selector_with};

use crate::core::internal::internal_value;
use generated::policy::v1::{PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus};

const EVICTION_POLICIES: [&str; 2] = ["AlwaysAllow", "IfHealthyBudget"];

/// `ValidatePodDisruptionBudget`, `ValidatePodDisruptionBudgetStatusUpdate`
pub fn validate_pod_disruption_budget(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PodDisruptionBudget,
    old: Option<&PodDisruptionBudget>,
) {
    if v.context.subresource == "status" {
        return validate_status(v, &path.child("status"), &new.status);
    }
    let any_values = old.and_then(|old| old.spec.selector.as_deref()).is_some_and(|stored| !is_valid_selector(stored));
    validate_spec(v, &path.child("spec"), &new.spec, any_values);
}

fn validate_spec(v: &mut Validation<'_>, path: &Path<'_>, spec: &PodDisruptionBudgetSpec, any_values: bool) {
    if spec.min_available.is_some() && spec.max_unavailable.is_some() {
        v.invalid(path, internal_value(spec), "minAvailable and maxUnavailable cannot be both set");
    }
    for (field, value) in [("minAvailable", &spec.min_available), ("maxUnavailable", &spec.max_unavailable)] {
        if let Some(value) = value {
            validate_int_or_percent(v, &path.child(field), value);
        }
    }
    if let Some(selector) = &spec.selector {
        let options = SelectorOptions { allow_invalid_values: any_values, ..SelectorOptions::default() };
        validate_label_selector_with(v, &path.child("selector"), selector, options);
    }
    if let Some(policy) = &spec.unhealthy_pod_eviction_policy {
        v.one_of(&path.child("unhealthyPodEvictionPolicy"), policy, &EVICTION_POLICIES);
    }
}

/// `ValidatePositiveIntOrPercent`, `IsNotMoreThan100Percent`
fn validate_int_or_percent(v: &mut Validation<'_>, path: &Path<'_>, value: &IntOrString) {
    let IntOrString::String(text) = value else { return v.not_negative(path, value.int_value()) };
    let messages = format::is_valid_percent(text);
    let well_formed = messages.is_empty();
    messages.into_iter().for_each(|message| v.invalid(path, BadValue::json_string(text), message));
    let share = text.trim_end_matches('%').trim_start_matches('0');
    if well_formed && share.parse::<u64>().map_or(!share.is_empty(), |share| share > 100) {
        v.invalid(path, BadValue::json_string(text), "must not be greater than 100%");
    }
}

fn validate_status(v: &mut Validation<'_>, path: &Path<'_>, status: &PodDisruptionBudgetStatus) {
    validate_conditions(v, &path.child("conditions"), &status.conditions);
    if v.context.version == "v1beta1" {
        return; // Nothing more was asked when it was new.
    }
    v.not_negative(&path.child("disruptionsAllowed"), status.disruptions_allowed);
    v.not_negative(&path.child("currentHealthy"), status.current_healthy);
    v.not_negative(&path.child("desiredHealthy"), status.desired_healthy);
    v.not_negative(&path.child("expectedPods"), status.expected_pods);
}
