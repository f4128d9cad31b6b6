//! The templates of replication controllers.

use std::collections::BTreeMap;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;

use super::options::PodOptions;
use super::template::validate_pod_template_spec;
use generated::core::v1::{PodTemplateSpec, ReplicationControllerSpec};

/// By hand: what is stored decides what is allowed, and labels are compared with the selector.
pub fn validate_controller_template(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &ReplicationControllerSpec,
    old: Option<&ReplicationControllerSpec>,
) {
    let options = PodOptions::of_template(v.context, old.and_then(|old| old.template.as_deref()));
    if let Some(template) = new.template.as_deref() {
        validate_template(v, &path.child("template"), template, &new.selector, &options);
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
