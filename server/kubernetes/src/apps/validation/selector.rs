//! Selectors of workloads, and the templates of the pods that they are to select.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::selector;

use crate::core::internal::internal_value;
use crate::core::{PodOptions, validate_pod_template_spec};
use generated::core::v1::PodTemplateSpec;
use generated::meta::v1::LabelSelector;
use meta::{compiled_selector, selects, validate_label_selector};

/// A selector that has to be there and select something; `kind` is what the message calls the workload. Gives back the selector to use.
pub(super) fn validate_selector(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    selector: Option<&LabelSelector>,
    kind: &str,
    refusal: &'static str,
) -> Option<selector::LabelSelector> {
    match selector {
        None => v.required(path, ""),
        Some(selector) => {
            validate_label_selector(v, path, selector, None);
            validate_not_empty(v, path, selector, kind);
        }
    }
    let compiled = compiled_selector(selector);
    if let (None, Some(selector)) = (&compiled, selector) {
        v.invalid(path, internal_value(selector), refusal);
    }
    compiled
}

/// A selector of all pods would take those of others.
pub(super) fn validate_not_empty(v: &mut Validation<'_>, path: &Path<'_>, selector: &LabelSelector, kind: &str) {
    if selector.match_labels.is_empty() && selector.match_expressions.is_empty() {
        v.invalid(path, internal_value(selector), format!("empty selector is invalid for {kind}"));
    }
}

/// That a selector did not change.
pub(super) fn validate_same_selector(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: Option<&LabelSelector>,
    old: Option<&LabelSelector>,
) {
    if new != old {
        v.invalid(path, new.map_or(BadValue::None, internal_value), "field is immutable");
    }
}

/// That a template's labels are selected.
pub(super) fn validate_selected(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    template: &PodTemplateSpec,
    selector: &selector::LabelSelector,
) {
    let labels = &template.metadata.labels;
    if !selects(selector, labels) {
        let path = path.child("metadata");
        let detail = "`selector` does not match template `labels`";
        v.invalid(&path.child("labels"), BadValue::string_map(labels), detail);
    }
}

/// `ValidatePodTemplateSpecForReplicaSet`
pub(super) fn validate_template(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    template: &PodTemplateSpec,
    selector: &selector::LabelSelector,
    options: &PodOptions,
) {
    if !selector.is_empty() {
        validate_selected(v, path, template, selector);
    }
    validate_pod_template_spec(v, path, template, options);
    validate_runs_on(v, &path.child("spec"), template, "ReplicaSet");
}

/// That pods are replaced by their workload alone: they run on, and never end by themselves.
pub(super) fn validate_runs_on(v: &mut Validation<'_>, path: &Path<'_>, template: &PodTemplateSpec, kind: &str) {
    let policy = template.spec.restart_policy.as_str();
    if policy != "Always" {
        v.not_supported(&path.child("restartPolicy"), BadValue::json_string(policy), &["Always"]);
    }
    if template.spec.active_deadline_seconds.is_some() {
        let detail = format!("activeDeadlineSeconds in {kind} is not Supported");
        v.forbidden(&path.child("activeDeadlineSeconds"), detail);
    }
}
