//! Replica sets.

use machinery::field_path::Path;
use machinery::hooks::Validation;

use super::selector::{validate_same_selector, validate_selector, validate_template};
use super::status::{validate_available, validate_counts, validate_parts};
use crate::core::PodOptions;
use generated::apps::v1::{ReplicaSet, ReplicaSetSpec, ReplicaSetStatus};

/// `ValidateReplicaSet`, `ValidateReplicaSetUpdate`, `ValidateReplicaSetStatusUpdate`
pub fn validate_replica_set(v: &mut Validation<'_>, _: &Path<'_>, new: &ReplicaSet, old: Option<&ReplicaSet>) {
    if v.context.subresource == "status" {
        return validate_status(v, &Path::new("status"), &new.status);
    }
    let path = Path::new("spec");
    let options = PodOptions::of_template(v.context, old.map(|old| &old.spec.template));
    validate_spec(v, &path, &new.spec, &options);
    if let Some(old) = old {
        let (new, old) = (new.spec.selector.as_deref(), old.spec.selector.as_deref());
        validate_same_selector(v, &path.child("selector"), new, old);
    }
}

/// `ValidateReplicaSetSpec`, whose message speaks of deployments.
fn validate_spec(v: &mut Validation<'_>, path: &Path<'_>, spec: &ReplicaSetSpec, options: &PodOptions) {
    v.not_negative(&path.child("replicas"), spec.replicas.unwrap_or(0));
    v.not_negative(&path.child("minReadySeconds"), spec.min_ready_seconds);
    let (selector, refusal) = (spec.selector.as_deref(), "invalid label selector");
    if let Some(selector) = validate_selector(v, &path.child("selector"), selector, "deployment", refusal) {
        validate_template(v, &path.child("template"), &spec.template, &selector, options);
    }
}

/// `ValidateReplicaSetStatus`
fn validate_status(v: &mut Validation<'_>, path: &Path<'_>, status: &ReplicaSetStatus) {
    let s = status;
    validate_counts(
        v,
        path,
        &[
            ("replicas", Some(s.replicas.into())),
            ("fullyLabeledReplicas", Some(s.fully_labeled_replicas.into())),
            ("readyReplicas", Some(s.ready_replicas.into())),
            ("availableReplicas", Some(s.available_replicas.into())),
            ("observedGeneration", Some(s.observed_generation)),
            ("terminatingReplicas", s.terminating_replicas.map(i64::from)),
        ],
    );
    let parts = [
        ("fullyLabeledReplicas", s.fully_labeled_replicas),
        ("readyReplicas", s.ready_replicas),
        ("availableReplicas", s.available_replicas),
    ];
    validate_parts(v, path, s.replicas, &parts);
    validate_available(v, path, s.available_replicas, ("readyReplicas", s.ready_replicas));
}
