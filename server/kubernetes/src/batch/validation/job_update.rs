//! What may change in a job.

use machinery::features;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::{Context, Validation};

use super::job_status::{SUSPENDED, is_true};
use crate::core::internal::internal_value;
use generated::batch::v1::{Job, JobSpec};
use generated::core::v1::{Affinity, PodSpec, PodTemplateSpec};

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
        let started = old.status.start_time.is_some();
        let idle = suspended && (!started || is_true(&old.status, SUSPENDED)) && old.status.active == 0;
        let scheduling = if context.enabled(features::MutableSchedulingDirectivesForSuspendedJobs) {
            idle
        } else {
            suspended && !started
        };
        Mutable { scheduling, resources: idle && context.enabled(features::MutablePodResourcesForSuspendedJobs) }
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
        take_resources(&mut expected.spec, &new.spec);
        let path = path.child("spec");
        return validate_same(v, &path, new.spec == expected.spec, || internal_value(&new.spec));
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

/// Takes over what the new containers are to get, as far as they are those that are stored.
fn take_resources(expected: &mut PodSpec, new: &PodSpec) {
    for (expected, new) in
        [(&mut expected.containers, &new.containers), (&mut expected.init_containers, &new.init_containers)]
    {
        if expected.len() == new.len() {
            let pairs = expected.iter_mut().zip(new).filter(|(expected, new)| expected.name == new.name);
            pairs.for_each(|(expected, new)| expected.resources = new.resources.clone());
        }
    }
}
