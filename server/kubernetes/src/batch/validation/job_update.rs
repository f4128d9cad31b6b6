//! What may change in a job.

use machinery::features;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::{Context, Validation};

use super::job_status::is_true;
use crate::core::internal::internal_value;
use generated::batch::v1::{Job, JobSpec};
use generated::core::v1::{Affinity, Container, PodSpec, PodTemplateSpec};

const IMMUTABLE: &str = "field is immutable";

/// What of the template may change because no pod runs (KEP-2926, KEP-5440).
#[derive(Clone, Copy, Debug, Default)]
struct Mutable {
    /// Where pods are to run.
    scheduling: bool,
    /// What pods are to get.
    resources: bool,
}

impl Mutable {
    fn of(context: &Context, old: &Job) -> Self {
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

/// By hand: two numbers are compared. Indexed jobs may grow and shrink (KEP-3715).
pub fn validate_elastic_completions(v: &mut Validation<'_>, path: &Path<'_>, new: &JobSpec, old: Option<&JobSpec>) {
    let has_changed = old.is_some_and(|old| old.completions != new.completions);
    if let Some(completions) = new.completions.filter(|_| has_changed && new.completions != new.parallelism) {
        v.invalid(&path.child("completions"), completions, "can only be modified in tandem with spec.parallelism");
    }
}

/// By hand: the whole template is compared with what is stored, except for what may change.
pub fn validate_template_change(v: &mut Validation<'_>, path: &Path<'_>, new: &Job, old: Option<&Job>) {
    let Some(old) = old else { return };
    let path = path.child("spec");
    let (path, mutable) = (path.child("template"), Mutable::of(v.context, old));
    let (new, mut expected) = (&new.spec.template, old.spec.template.clone());
    if mutable.scheduling {
        take_scheduling(&mut expected, new);
    }
    if mutable.resources {
        let is = with_resources(&new.spec, &expected.spec);
        if expected.metadata != new.metadata {
            return v.invalid(&path, internal_value(new), IMMUTABLE);
        }
        return validate_same(v, &path.child("spec"), is == expected.spec, || internal_value(&is));
    }
    validate_same(v, &path, *new == expected, || internal_value(new));
}

fn validate_same(v: &mut Validation<'_>, path: &Path<'_>, same: bool, shown: impl FnOnce() -> BadValue) {
    if !same {
        v.invalid(path, shown(), IMMUTABLE);
    }
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
