//! Defaults of horizontal pod autoscalers.

use generated::autoscaling::v2::{
    HPAScalingPolicy, HPAScalingRules, HorizontalPodAutoscaler, hpa_scaling_policy_type, scaling_policy_select,
};

/// Mirrors `SetDefaults_HorizontalPodAutoscalerBehavior`: completes a behavior that is partly set.
pub fn default_horizontal_pod_autoscaler(autoscaler: &mut HorizontalPodAutoscaler) {
    let Some(behavior) = &mut autoscaler.spec.behavior else { return };
    let up = behavior.scale_up.get_or_insert_default();
    let at_once = [policy(hpa_scaling_policy_type::PODS, 4), policy(hpa_scaling_policy_type::PERCENT, 100)];
    complete(up, &at_once);
    up.stabilization_window_seconds.get_or_insert(0);
    complete(behavior.scale_down.get_or_insert_default(), &[policy(hpa_scaling_policy_type::PERCENT, 100)]);
}

fn complete(rules: &mut HPAScalingRules, policies: &[HPAScalingPolicy]) {
    rules.select_policy.get_or_insert_with(|| scaling_policy_select::MAX.to_owned());
    if rules.policies.is_empty() {
        rules.policies = policies.to_vec();
    }
}

fn policy(kind: &str, value: i32) -> HPAScalingPolicy {
    HPAScalingPolicy { r#type: kind.to_owned(), value, period_seconds: 15 }
}
