//! How fast an autoscaler may go.

use machinery::field_path::Path;
use machinery::hooks::Validation;

use crate::autoscaling::v2::{HPAScalingPolicy, HPAScalingRules, HorizontalPodAutoscalerBehavior};
use crate::hatches::core::validation::resources::validate_not_negative_quantity;

/// In seconds.
const MAX_PERIOD: i32 = 1800;
/// In seconds.
const MAX_STABILIZATION_WINDOW: i32 = 3600;

const POLICY_TYPES: [&str; 2] = ["Percent", "Pods"];
const SELECT_POLICIES: [&str; 3] = ["Disabled", "Max", "Min"];

/// `validateBehavior`
pub fn validate_behavior(v: &mut Validation<'_>, path: &Path<'_>, behavior: &HorizontalPodAutoscalerBehavior) {
    for (field, rules) in [("scaleUp", &behavior.scale_up), ("scaleDown", &behavior.scale_down)] {
        if let Some(rules) = rules {
            validate_rules(v, &path.child(field), rules);
        }
    }
}

/// `validateScalingRules`
fn validate_rules(v: &mut Validation<'_>, path: &Path<'_>, rules: &HPAScalingRules) {
    if let Some(seconds) = rules.stabilization_window_seconds {
        let path = path.child("stabilizationWindowSeconds");
        if seconds < 0 {
            v.invalid(&path, seconds, "must be greater than or equal to zero");
        }
        if seconds > MAX_STABILIZATION_WINDOW {
            v.invalid(&path, seconds, format!("must be less than or equal to {MAX_STABILIZATION_WINDOW}"));
        }
    }
    if let Some(policy) = &rules.select_policy {
        v.one_of(&path.child("selectPolicy"), policy, &SELECT_POLICIES);
    }
    let policies = path.child("policies");
    if rules.policies.is_empty() {
        v.required(&policies, "must specify at least one Policy");
    }
    for (index, policy) in rules.policies.iter().enumerate() {
        validate_policy(v, &policies.index(index), policy);
    }
    if let Some(tolerance) = &rules.tolerance {
        validate_not_negative_quantity(v, &path.child("tolerance"), tolerance);
    }
}

/// `validateScalingPolicy`
fn validate_policy(v: &mut Validation<'_>, path: &Path<'_>, policy: &HPAScalingPolicy) {
    let period = path.child("periodSeconds");
    v.one_of(&path.child("type"), &policy.r#type, &POLICY_TYPES);
    v.positive(&path.child("value"), policy.value);
    v.positive(&period, policy.period_seconds);
    if policy.period_seconds > MAX_PERIOD {
        v.invalid(&period, policy.period_seconds, format!("must be less than or equal to {MAX_PERIOD}"));
    }
}
