//! What upstream checks by hand in autoscalers (`pkg/apis/autoscaling/validation`).

#[path = "validation/behavior.rs"]
mod behavior;
#[path = "validation/metrics.rs"]
mod metrics;
#[path = "validation/reference.rs"]
mod reference;

use machinery::field_path::Path;
use machinery::hooks::Validation;

use crate::autoscaling::v2::{HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec};
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
        let path = path.child("status");
        v.not_negative(&path.child("currentReplicas"), new.status.current_replicas);
        v.not_negative(&path.child("desiredReplicas"), new.status.desired_replicas);
        return;
    }
    validate_spec(v, &path.child("spec"), &new.spec, old.map(|old| &old.spec));
}

fn validate_spec(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &HorizontalPodAutoscalerSpec,
    old: Option<&HorizontalPodAutoscalerSpec>,
) {
    let to_zero = v.context.enabled("HPAScaleToZero") || old.is_some_and(|old| old.min_replicas == Some(0));
    validate_bounds(v, path, spec, if to_zero { 0 } else { 1 });
    let rule = ApiVersionRule::of_target(spec, old);
    validate_reference(v, &path.child("scaleTargetRef"), &spec.scale_target_ref, rule);
    let rule = ApiVersionRule::of_metrics(old);
    validate_metrics(v, &path.child("metrics"), spec, rule);
    if let Some(behavior) = &spec.behavior {
        behavior::validate_behavior(v, &path.child("behavior"), behavior);
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
