//! Deployments.

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::percent::{is_none, shown};
use super::selector::{usable_selector, validate_template};
use crate::core::PodOptions;
use crate::core::internal::internal_value;
use generated::apps::v1::{DeploymentSpec, DeploymentStrategy, RollingUpdateDeployment};

/// By hand: what is stored decides what templates may hold, and labels are compared with the selector.
pub fn validate_deployment_pods(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &DeploymentSpec,
    old: Option<&DeploymentSpec>,
) {
    let options = PodOptions::of_template(v.context, old.map(|old| &old.template));
    let refusal = "invalid label selector";
    if let Some(selector) = usable_selector(v, &path.child("selector"), new.selector.as_deref(), refusal) {
        validate_template(v, &path.child("template"), &new.template, &selector, &options);
        v.checks_of("pods", path, Ref::of(new), None);
    }
}

/// By hand: two numbers are compared, which may not be equal.
pub fn validate_progress_deadline(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &DeploymentSpec,
    _: Option<&DeploymentSpec>,
) {
    if let Some(seconds) = new.progress_deadline_seconds.filter(|seconds| *seconds <= new.min_ready_seconds) {
        v.invalid(&path.child("progressDeadlineSeconds"), seconds, "must be greater than minReadySeconds");
    }
}

/// By hand: the message shows numbers that are not given as 0.
pub fn refuse_deployment_strategy(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &DeploymentStrategy,
    _: Option<&DeploymentStrategy>,
) {
    let mut strategy = new.clone();
    if let Some(update) = strategy.rolling_update.as_deref_mut() {
        update.max_unavailable.get_or_insert_default();
        update.max_surge.get_or_insert_default();
    }
    v.not_supported(path, internal_value(&strategy), &["Recreate", "RollingUpdate"]);
}

/// By hand: numbers and percentages are 0 in many spellings.
pub fn validate_progress_of_deployment(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &RollingUpdateDeployment,
    _: Option<&RollingUpdateDeployment>,
) {
    if is_none(new.max_unavailable.as_ref()) && is_none(new.max_surge.as_ref()) {
        let unavailable = shown(new.max_unavailable.as_ref());
        v.invalid(&path.child("maxUnavailable"), unavailable, "may not be 0 when `maxSurge` is 0");
    }
}
