//! What upstream checks by hand in autoscalers (`pkg/apis/autoscaling/validation`).

mod metrics;
mod reference;

use machinery::features;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use generated::autoscaling::v2::{HPAScalingRules, HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec};
pub use metrics::validate_container_resource;
use metrics::validate_metrics;
use reference::{ApiVersionRule, validate_reference};

/// `ValidateHorizontalPodAutoscaler` and what may change of one, by itself and through its status.
pub fn validate_horizontal_pod_autoscaler(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &HorizontalPodAutoscaler,
    old: Option<&HorizontalPodAutoscaler>,
) {
    if v.context.subresource == "status" {
        return; // It is checked as declared.
    }
    validate_spec(v, &path.child("spec"), &new.spec, old.map(|old| &old.spec));
}

fn validate_spec(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &HorizontalPodAutoscalerSpec,
    old: Option<&HorizontalPodAutoscalerSpec>,
) {
    let to_zero = v.context.enabled(features::HPAScaleToZero) || old.is_some_and(|old| old.min_replicas == Some(0));
    validate_bounds(v, path, spec, if to_zero { 0 } else { 1 });
    let rule = ApiVersionRule::of_target(spec, old);
    validate_reference(v, &path.child("scaleTargetRef"), &spec.scale_target_ref, rule);
    let rule = ApiVersionRule::of_metrics(old);
    validate_metrics(v, &path.child("metrics"), spec, rule);
    if let Some(behavior) = &spec.behavior {
        v.checks(&path.child("behavior"), Ref::of(&**behavior), None);
    }
}

fn validate_bounds(v: &mut Validation<'_>, path: &Path<'_>, spec: &HorizontalPodAutoscalerSpec, least: i32) {
    let max = path.child("maxReplicas");
    if let Some(replicas) = spec.min_replicas.filter(|replicas| *replicas < least) {
        v.invalid(&path.child("minReplicas"), replicas, format!("must be greater than or equal to {least}"));
    }
    if spec.max_replicas == 0 {
        v.required(&max, "must be set and greater than 0");
    } else if spec.max_replicas < 0 {
        v.invalid(&max, spec.max_replicas, "must be greater than or equal to 1");
    }
    if spec.min_replicas.is_some_and(|least| spec.max_replicas < least) {
        v.invalid(&max, spec.max_replicas, "must be greater than or equal to `minReplicas`");
    }
}

/// Upstream fills in the policies of rules that say none: a list that was sent empty stays so.
pub fn validate_sent_policies(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    _: &HPAScalingRules,
    _: Option<&HPAScalingRules>,
) {
    let path = path.child("policies");
    if v.context.sent.is_empty_at(&path.to_string()) {
        v.required(&path, "must specify at least one Policy");
    }
}
