//! Jobs, whole.

use std::borrow::Cow;
use std::collections::BTreeMap;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{NameRule, is_dns1123_label};
use machinery::hooks::Validation;

use crate::batch::strategy::{CONTROLLER_UID, JOB_NAME, LEGACY_CONTROLLER_UID, LEGACY_JOB_NAME};
use crate::core::internal::internal_value;
use generated::batch::v1::Job;
use generated::meta::v1::ObjectMeta;
use meta::{
    compiled_selector, selects, validate_object_meta, validate_object_meta_update, validate_qualified_finalizers,
};

/// By hand: labels that are made from those of the template are not looked at.
pub fn validate_job_metadata(v: &mut Validation<'_>, path: &Path<'_>, new: &Job, _: Option<&Job>) {
    let path = path.child("metadata");
    validate_object_meta(v, &path, &without_made_labels(new), true, NameRule::Dns1123Subdomain);
    validate_qualified_finalizers(v, &path.child("finalizers"), &new.metadata.finalizers);
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

/// By hand: the change comes after the whole, or alone.
pub fn validate_job_metadata_change(v: &mut Validation<'_>, path: &Path<'_>, new: &Job, old: Option<&Job>) {
    let Some(old) = old else { return };
    let path = path.child("metadata");
    validate_object_meta_update(v, &path, &new.metadata, &old.metadata);
    validate_qualified_finalizers(v, &path.child("finalizers"), &new.metadata.finalizers);
}

/// Jobs from before the labels had a domain need not have those. By hand: labels are compared with name and UID.
pub fn validate_generated_selector(v: &mut Validation<'_>, path: &Path<'_>, new: &Job, old: Option<&Job>) {
    let Some(selector) = new.spec.selector.as_deref() else { return };
    let (uid, name) = (&new.metadata.uid, &new.metadata.name);
    if uid.is_empty() {
        v.required(&path.child("metadata").child("uid"), "");
    }
    let had = |label: &str| old.is_none_or(|old| old.spec.template.metadata.labels.contains_key(label));
    let prefixed = had(JOB_NAME) && had(CONTROLLER_UID);
    let mut expected = vec![(LEGACY_CONTROLLER_UID, uid), (LEGACY_JOB_NAME, name)];
    if prefixed {
        expected.extend([(CONTROLLER_UID, uid), (JOB_NAME, name)]);
    }
    let labels = &new.spec.template.metadata.labels;
    for (label, value) in &expected {
        validate_label(v, labels, label, value);
    }
    let expected = expected.into_iter().map(|(label, value)| (label.to_owned(), value.clone())).collect();
    if compiled_selector(Some(selector)).is_some_and(|compiled| !selects(&compiled, &expected)) {
        let path = path.child("spec");
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

/// The pods of indexed jobs are named after the job and their index. By hand: a name is made of two values.
pub fn validate_names_of_pods(v: &mut Validation<'_>, path: &Path<'_>, new: &Job, _: Option<&Job>) {
    let Some(completions) = new.spec.completions.filter(|completions| *completions > 0) else { return };
    let host = format!("{}-{}", new.metadata.name, completions - 1);
    if !is_dns1123_label(&host).is_empty() {
        let path = path.child("metadata");
        let detail = format!("will not able to create pod with invalid DNS label: {host}");
        v.invalid(&path.child("name"), &new.metadata.name, detail);
    }
}
