//! Jobs, whole.

use std::borrow::Cow;
use std::collections::BTreeMap;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{NameRule, is_dns1123_label};
use machinery::hooks::Validation;

use super::job_spec::{INDEXED, validate_spec_with_selector};
use super::job_status::validate_status_change;
use super::job_update::{Mutable, validate_spec_change};
use crate::batch::strategy::{CONTROLLER_UID, JOB_NAME, LEGACY_CONTROLLER_UID, LEGACY_JOB_NAME};
use crate::core::PodOptions;
use crate::core::internal::internal_value;
use generated::batch::v1::Job;
use generated::meta::v1::ObjectMeta;
use meta::{
    compiled_selector, has_invalid_label_value, selects, validate_object_meta, validate_object_meta_update,
    validate_qualified_finalizers,
};

/// `ValidateJob`, and on updates `ValidateJobUpdate` or `ValidateJobUpdateStatus` besides.
pub fn validate_job(v: &mut Validation<'_>, _: &Path<'_>, new: &Job, old: Option<&Job>) {
    if let Some(old) = old.filter(|_| v.context.subresource == "status") {
        validate_meta_change(v, new, old);
        return validate_status_change(v, new, old);
    }
    let mut options = PodOptions::of_template(v.context, old.map(|old| &old.spec.template));
    if let Some(selector) = old.and_then(|old| old.spec.selector.as_deref()) {
        options.allow_invalid_values_of_pods |= has_invalid_label_value(selector);
    }
    let (metadata, path) = (Path::new("metadata"), Path::new("spec"));
    validate_object_meta(v, &metadata, &without_made_labels(new), true, NameRule::Dns1123Subdomain);
    validate_qualified_finalizers(v, &metadata.child("finalizers"), &new.metadata.finalizers);
    validate_generated(v, new, old);
    validate_spec_with_selector(v, &path, &new.spec, &options);
    validate_pod_names(v, new);
    if let Some(old) = old {
        validate_meta_change(v, new, old);
        validate_spec_with_selector(v, &path, &new.spec, &options);
        validate_spec_change(v, &path, &new.spec, &old.spec, Mutable::of(v.context, old));
    }
}

/// The metadata as upstream checks it: labels that come from nothing but the generated ones of the template come later.
fn without_made_labels(job: &Job) -> Cow<'_, ObjectMeta> {
    let made = [CONTROLLER_UID, JOB_NAME, LEGACY_CONTROLLER_UID, LEGACY_JOB_NAME];
    let (labels, template) = (&job.metadata.labels, &job.spec.template.metadata.labels);
    if labels == template && labels.keys().all(|label| made.contains(&label.as_str())) {
        return Cow::Owned(ObjectMeta { labels: BTreeMap::new(), ..job.metadata.clone() });
    }
    Cow::Borrowed(&job.metadata)
}

fn validate_meta_change(v: &mut Validation<'_>, new: &Job, old: &Job) {
    let path = Path::new("metadata");
    validate_object_meta_update(v, &path, &new.metadata, &old.metadata);
    validate_qualified_finalizers(v, &path.child("finalizers"), &new.metadata.finalizers);
}

/// `validateGeneratedSelector`; jobs from before the labels had a domain need not have those.
fn validate_generated(v: &mut Validation<'_>, job: &Job, old: Option<&Job>) {
    let Some(selector) = job.spec.selector.as_deref().filter(|_| job.spec.manual_selector != Some(true)) else {
        return;
    };
    let (uid, name) = (&job.metadata.uid, &job.metadata.name);
    if uid.is_empty() {
        v.required(&Path::new("metadata").child("uid"), "");
    }
    let had = |label: &str| old.is_none_or(|old| old.spec.template.metadata.labels.contains_key(label));
    let prefixed = had(JOB_NAME) && had(CONTROLLER_UID);
    let mut expected = vec![(LEGACY_CONTROLLER_UID, uid), (LEGACY_JOB_NAME, name)];
    if prefixed {
        expected.extend([(CONTROLLER_UID, uid), (JOB_NAME, name)]);
    }
    let labels = &job.spec.template.metadata.labels;
    for (label, value) in &expected {
        validate_label(v, labels, label, value);
    }
    let expected = expected.into_iter().map(|(label, value)| (label.to_owned(), value.clone())).collect();
    if compiled_selector(Some(selector)).is_some_and(|compiled| !selects(&compiled, &expected)) {
        let path = Path::new("spec");
        v.invalid(&path.child("selector"), internal_value(selector), "`selector` not auto-generated");
    }
}

/// `ValidateHasLabel` of the template.
fn validate_label(v: &mut Validation<'_>, labels: &BTreeMap<String, String>, label: &str, expected: &str) {
    let path = Path::new("spec");
    let path = path.child("template");
    let path = path.child("metadata");
    let path = path.child("labels");
    let path = path.key(label);
    let detail = format!("must be '{expected}'");
    match labels.get(label) {
        None => v.required(&path, detail),
        Some(value) if value != expected => v.invalid(&path, BadValue::string_map(labels), detail),
        Some(_) => {}
    }
}

/// The pods of indexed jobs are named after the job and their index.
fn validate_pod_names(v: &mut Validation<'_>, job: &Job) {
    let completions = job.spec.completions.filter(|completions| *completions > 0);
    if let (Some(INDEXED), Some(completions)) = (job.spec.completion_mode.as_deref(), completions) {
        let host = format!("{}-{}", job.metadata.name, completions - 1);
        if !is_dns1123_label(&host).is_empty() {
            let path = Path::new("metadata");
            let detail = format!("will not able to create pod with invalid DNS label: {host}");
            v.invalid(&path.child("name"), &job.metadata.name, detail);
        }
    }
}
