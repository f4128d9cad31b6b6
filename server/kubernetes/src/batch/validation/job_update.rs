//! What may change in a job.

use machinery::features;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::{Context, Validation};

use super::job_spec::INDEXED;
use super::job_status::is_true;
use crate::core::internal::internal_value;
use generated::batch::v1::{Job, JobSpec};
use generated::core::v1::{Affinity, Container, PodSpec, PodTemplateSpec};

const IMMUTABLE: &str = "field is immutable";

/// What of the template may change because no pod runs (KEP-2926, KEP-5440).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mutable {
    /// Where pods are to run.
    scheduling: bool,
    /// What pods are to get.
    resources: bool,
}

impl Mutable {
    pub fn of(context: &Context, old: &Job) -> Self {
        let suspended = old.spec.suspend == Some(true);
        let idle = suspended && is_true(&old.status, "Suspended") && old.status.active == 0;
        let started = old.status.start_time.is_some();
        Mutable {
            scheduling: (suspended && !started)
                || (idle && context.enabled(features::MutableSchedulingDirectivesForSuspendedJobs)),
            resources: suspended
                && (!started || idle)
                && context.enabled(features::MutablePodResourcesForSuspendedJobs),
        }
    }
}

/// `ValidateJobSpecUpdate`, without the spec itself.
pub(super) fn validate_spec_change(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &JobSpec,
    old: &JobSpec,
    mutable: Mutable,
) {
    validate_completions(v, &path.child("completions"), new, old);
    let shown = |selector: &Option<Box<_>>| selector.as_deref().map_or(BadValue::None, internal_value);
    validate_same(v, &path.child("selector"), new.selector == old.selector, || shown(&new.selector));
    validate_template(v, &path.child("template"), &new.template, &old.template, mutable);
    let same = new.completion_mode == old.completion_mode;
    validate_same(v, &path.child("completionMode"), same, || text(new.completion_mode.as_deref()));
    let same = new.pod_failure_policy == old.pod_failure_policy;
    let policy = || new.pod_failure_policy.as_deref().map_or(BadValue::None, internal_value);
    validate_same(v, &path.child("podFailurePolicy"), same, policy);
    let same = new.backoff_limit_per_index == old.backoff_limit_per_index;
    validate_same(v, &path.child("backoffLimitPerIndex"), same, || number(new.backoff_limit_per_index));
    validate_same(v, &path.child("managedBy"), new.managed_by == old.managed_by, || text(new.managed_by.as_deref()));
    let policy = || new.success_policy.as_deref().map_or(BadValue::None, internal_value);
    validate_same(v, &path.child("successPolicy"), new.success_policy == old.success_policy, policy);
}

fn validate_same(v: &mut Validation<'_>, path: &Path<'_>, same: bool, shown: impl FnOnce() -> BadValue) {
    if !same {
        v.invalid(path, shown(), IMMUTABLE);
    }
}

fn text(value: Option<&str>) -> BadValue {
    value.map_or(BadValue::None, BadValue::json_string)
}

fn number(value: Option<i32>) -> BadValue {
    value.map_or(BadValue::None, BadValue::from)
}

/// `validateCompletions`: indexed jobs may grow and shrink (KEP-3715).
fn validate_completions(v: &mut Validation<'_>, path: &Path<'_>, new: &JobSpec, old: &JobSpec) {
    if new.completions == old.completions {
        return;
    }
    if new.completion_mode.as_deref() != Some(INDEXED) {
        return v.invalid(path, number(new.completions), IMMUTABLE);
    }
    if new.completions.is_some() && new.completions != new.parallelism {
        v.invalid(path, number(new.completions), "can only be modified in tandem with spec.parallelism");
    }
}

/// `validatePodTemplateUpdate`
fn validate_template(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PodTemplateSpec,
    old: &PodTemplateSpec,
    mutable: Mutable,
) {
    let mut expected = old.clone();
    if mutable.scheduling {
        take_scheduling(&mut expected, new);
    }
    if mutable.resources {
        let is = with_resources(&new.spec, &expected.spec);
        if expected.metadata != new.metadata {
            return v.invalid(path, internal_value(new), IMMUTABLE);
        }
        return validate_same(v, &path.child("spec"), is == expected.spec, || internal_value(&is));
    }
    validate_same(v, path, *new == expected, || internal_value(new));
}

/// Takes over where the new pods are to run.
fn take_scheduling(expected: &mut PodTemplateSpec, new: &PodTemplateSpec) {
    let (spec, is) = (&mut expected.spec, &new.spec);
    match (&is.affinity, &mut spec.affinity) {
        (None, Some(was)) => {
            was.node_affinity = None;
            spec.affinity.take_if(|was| **was == Affinity::default());
        }
        (Some(is), was) => was.get_or_insert_default().node_affinity = is.node_affinity.clone(),
        (None, None) => {}
    }
    spec.node_selector = is.node_selector.clone();
    spec.tolerations = is.tolerations.clone();
    spec.scheduling_gates = is.scheduling_gates.clone();
    expected.metadata.annotations = new.metadata.annotations.clone();
    expected.metadata.labels = new.metadata.labels.clone();
}

/// The new spec with the resources that its containers had.
fn with_resources(new: &PodSpec, old: &PodSpec) -> PodSpec {
    let restored = |new: &[Container], old: &[Container]| {
        let mut containers = new.to_vec();
        for (container, old) in containers.iter_mut().zip(old) {
            container.resources = old.resources.clone();
        }
        containers
    };
    PodSpec {
        containers: restored(&new.containers, &old.containers),
        init_containers: restored(&new.init_containers, &old.init_containers),
        ..new.clone()
    }
}
