//! Replication controllers.

use std::collections::BTreeMap;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;

use super::options::PodOptions;
use super::template::validate_pod_template_spec;
use generated::core::v1::{
    PodTemplateSpec, ReplicationController, ReplicationControllerSpec, ReplicationControllerStatus,
};

/// `ValidateReplicationController`, `ValidateReplicationControllerUpdate`, `ValidateReplicationControllerStatusUpdate`
pub fn validate_replication_controller(
    v: &mut Validation<'_>,
    _: &Path<'_>,
    new: &ReplicationController,
    old: Option<&ReplicationController>,
) {
    if v.context.subresource == "status" {
        return validate_status(v, &Path::new("status"), &new.status);
    }
    let options = PodOptions::of_template(v.context, old.and_then(|old| old.spec.template.as_deref()));
    validate_spec(v, &Path::new("spec"), &new.spec, &options);
}

/// `ValidateReplicationControllerSpec`
fn validate_spec(v: &mut Validation<'_>, path: &Path<'_>, spec: &ReplicationControllerSpec, options: &PodOptions) {
    v.not_negative(&path.child("minReadySeconds"), spec.min_ready_seconds);
    if spec.selector.is_empty() {
        v.required(&path.child("selector"), "");
    }
    match spec.replicas {
        None => v.required(&path.child("replicas"), ""),
        Some(replicas) => v.not_negative(&path.child("replicas"), replicas),
    }
    let path = path.child("template");
    match spec.template.as_deref() {
        None => v.required(&path, ""),
        Some(template) => validate_template(v, &path, template, &spec.selector, options),
    }
}

/// `ValidatePodTemplateSpecForRC`
fn validate_template(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    template: &PodTemplateSpec,
    selector: &BTreeMap<String, String>,
    options: &PodOptions,
) {
    let labels = &template.metadata.labels;
    if selector.iter().any(|(key, value)| labels.get(key) != Some(value)) {
        let path = path.child("metadata");
        let path = path.child("labels");
        v.invalid(&path, BadValue::string_map(labels), "`selector` does not match template `labels`");
    }
    validate_pod_template_spec(v, path, template, options);
    let path = path.child("spec");
    let policy = template.spec.restart_policy.as_str();
    if policy != "Always" {
        v.not_supported(&path.child("restartPolicy"), BadValue::json_string(policy), &["Always"]);
    }
    if template.spec.active_deadline_seconds.is_some() {
        let detail = "activeDeadlineSeconds in ReplicationController is not Supported";
        v.forbidden(&path.child("activeDeadlineSeconds"), detail);
    }
}

/// `ValidateReplicationControllerStatus`
fn validate_status(v: &mut Validation<'_>, path: &Path<'_>, status: &ReplicationControllerStatus) {
    let (replicas, labeled) = (status.replicas, status.fully_labeled_replicas);
    let (ready, available) = (status.ready_replicas, status.available_replicas);
    for (field, number) in [
        ("replicas", i64::from(replicas)),
        ("fullyLabeledReplicas", i64::from(labeled)),
        ("readyReplicas", i64::from(ready)),
        ("availableReplicas", i64::from(available)),
        ("observedGeneration", status.observed_generation),
    ] {
        v.not_negative(&path.child(field), number);
    }
    for (field, number) in
        [("fullyLabeledReplicas", labeled), ("readyReplicas", ready), ("availableReplicas", available)]
    {
        if number > replicas {
            v.invalid(&path.child(field), number, "cannot be greater than status.replicas");
        }
    }
    if available > ready {
        v.invalid(&path.child("availableReplicas"), available, "cannot be greater than readyReplicas");
    }
}
