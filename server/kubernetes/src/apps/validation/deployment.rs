//! Deployments.

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::scalar::IntOrString;

use super::percent::{is_none, shown, validate_count_or_percent, validate_not_more_than_all};
use super::selector::{validate_same_selector, validate_selector, validate_template};
use super::status::{validate_available, validate_collisions, validate_counts, validate_parts};
use crate::core::PodOptions;
use crate::core::internal::internal_value;
use generated::apps::v1::{Deployment, DeploymentSpec, DeploymentStatus, DeploymentStrategy, RollingUpdateDeployment};

/// `ValidateDeployment`, `ValidateDeploymentUpdate`, `ValidateDeploymentStatusUpdate`
pub fn validate_deployment(v: &mut Validation<'_>, _: &Path<'_>, new: &Deployment, old: Option<&Deployment>) {
    if v.context.subresource == "status" {
        let path = Path::new("status");
        validate_status(v, &path, &new.status);
        let before = old.and_then(|old| old.status.collision_count);
        return validate_collisions(v, &path, new.status.collision_count, before);
    }
    let path = Path::new("spec");
    let options = PodOptions::of_template(v.context, old.map(|old| &old.spec.template));
    validate_spec(v, &path, &new.spec, &options);
    if let Some(old) = old {
        let (new, old) = (new.spec.selector.as_deref(), old.spec.selector.as_deref());
        validate_same_selector(v, &path.child("selector"), new, old);
    }
}

/// `ValidateDeploymentSpec`
fn validate_spec(v: &mut Validation<'_>, path: &Path<'_>, spec: &DeploymentSpec, options: &PodOptions) {
    v.not_negative(&path.child("replicas"), spec.replicas.unwrap_or(0));
    let (selector, refusal) = (spec.selector.as_deref(), "invalid label selector");
    if let Some(selector) = validate_selector(v, &path.child("selector"), selector, "deployment", refusal) {
        validate_template(v, &path.child("template"), &spec.template, &selector, options);
    }
    validate_strategy(v, &path.child("strategy"), &spec.strategy);
    v.not_negative(&path.child("minReadySeconds"), spec.min_ready_seconds);
    if let Some(limit) = spec.revision_history_limit {
        v.not_negative(&path.child("revisionHistoryLimit"), limit);
    }
    if let Some(seconds) = spec.progress_deadline_seconds {
        let path = path.child("progressDeadlineSeconds");
        v.not_negative(&path, seconds);
        if seconds <= spec.min_ready_seconds {
            v.invalid(&path, seconds, "must be greater than minReadySeconds");
        }
    }
}

/// `ValidateDeploymentStrategy`
fn validate_strategy(v: &mut Validation<'_>, path: &Path<'_>, strategy: &DeploymentStrategy) {
    let rolling = path.child("rollingUpdate");
    match (strategy.r#type.as_str(), strategy.rolling_update.as_deref()) {
        ("Recreate", None) => {}
        ("Recreate", Some(_)) => v.forbidden(&rolling, "may not be specified when strategy `type` is 'Recreate'"),
        ("RollingUpdate", None) => v.required(&rolling, "this should be defaulted and never be nil"),
        ("RollingUpdate", Some(update)) => validate_rolling_update(v, &rolling, update),
        _ => v.not_supported(path, shown_strategy(strategy), &["Recreate", "RollingUpdate"]),
    }
}

/// Inside, numbers that are not said are zero.
fn shown_strategy(strategy: &DeploymentStrategy) -> machinery::field_error::BadValue {
    let mut strategy = strategy.clone();
    if let Some(update) = strategy.rolling_update.as_deref_mut() {
        update.max_unavailable.get_or_insert_default();
        update.max_surge.get_or_insert_default();
    }
    internal_value(&strategy)
}

/// `ValidateRollingUpdateDeployment`
fn validate_rolling_update(v: &mut Validation<'_>, path: &Path<'_>, update: &RollingUpdateDeployment) {
    let none = IntOrString::default();
    let (unavailable, surge) =
        (update.max_unavailable.as_ref().unwrap_or(&none), update.max_surge.as_ref().unwrap_or(&none));
    let unavailable_path = path.child("maxUnavailable");
    validate_count_or_percent(v, &unavailable_path, unavailable);
    validate_count_or_percent(v, &path.child("maxSurge"), surge);
    if is_none(unavailable) && is_none(surge) {
        v.invalid(&unavailable_path, shown(unavailable), "may not be 0 when `maxSurge` is 0");
    }
    validate_not_more_than_all(v, &unavailable_path, unavailable);
}

/// `ValidateDeploymentStatus`
fn validate_status(v: &mut Validation<'_>, path: &Path<'_>, status: &DeploymentStatus) {
    let s = status;
    validate_counts(
        v,
        path,
        &[
            ("observedGeneration", Some(s.observed_generation)),
            ("replicas", Some(s.replicas.into())),
            ("updatedReplicas", Some(s.updated_replicas.into())),
            ("readyReplicas", Some(s.ready_replicas.into())),
            ("availableReplicas", Some(s.available_replicas.into())),
            ("unavailableReplicas", Some(s.unavailable_replicas.into())),
            ("terminatingReplicas", s.terminating_replicas.map(i64::from)),
            ("collisionCount", s.collision_count.map(i64::from)),
        ],
    );
    let parts = [
        ("updatedReplicas", s.updated_replicas),
        ("readyReplicas", s.ready_replicas),
        ("availableReplicas", s.available_replicas),
    ];
    validate_parts(v, path, s.replicas, &parts);
    validate_available(v, path, s.available_replicas, ("readyReplicas", s.ready_replicas));
}
