//! Validation of jobs: the labels of their pods, and policies for failed pods.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use generated::batch::v1::pod_failure_policy_on_exit_codes_operator;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{NameRule, is_dns1123_label};
use machinery::hooks::Validation;
use machinery::json_name;

use crate::batch::strategy::{CONTROLLER_UID, JOB_NAME, LEGACY_CONTROLLER_UID, LEGACY_JOB_NAME};
use crate::core::internal::internal_value;
use generated::batch::v1::{Job, PodFailurePolicyOnExitCodesRequirement};
use generated::meta::v1::ObjectMeta;
use meta::{compiled_selector, selects, validate_whole_object_meta};

/// Validates the metadata. Hand-written, because labels that consist only of generated ones are
/// excluded.
pub fn validate_job_metadata(v: &mut Validation<'_>, _: &Path<'_>, new: &Job, _: Option<&Job>) {
    validate_whole_object_meta(v, &without_generated_labels(new), true, NameRule::Dns1123Subdomain);
}

/// The metadata as upstream validates it: without labels that equal the template's and are all
/// generated, because upstream adds those later.
fn without_generated_labels(job: &Job) -> Cow<'_, ObjectMeta> {
    let generated = [CONTROLLER_UID, JOB_NAME, LEGACY_CONTROLLER_UID, LEGACY_JOB_NAME];
    let (labels, template) = (&job.metadata.labels, &job.spec.template.metadata.labels);
    if labels == template && labels.keys().all(|label| generated.contains(&label.as_str())) {
        return Cow::Owned(ObjectMeta { labels: BTreeMap::new(), ..job.metadata.clone() });
    }
    Cow::Borrowed(&job.metadata)
}

/// Validates the generated selector. Jobs that are older than the prefixed labels need not have them.
/// Hand-written, because labels are compared with name and UID.
pub fn validate_generated_selector(v: &mut Validation<'_>, path: &Path<'_>, new: &Job, old: Option<&Job>) {
    let Some(selector) = new.spec.selector.as_deref() else { return };
    let (uid, name) = (&new.metadata.uid, &new.metadata.name);
    if uid.is_empty() {
        v.required(&path.child("metadata.uid"), "");
    }
    let had = |label: &str| old.is_none_or(|old| old.spec.template.metadata.labels.contains_key(label));
    let mut expected = vec![(LEGACY_CONTROLLER_UID, uid), (LEGACY_JOB_NAME, name)];
    if had(JOB_NAME) && had(CONTROLLER_UID) {
        expected.extend([(CONTROLLER_UID, uid), (JOB_NAME, name)]);
    }
    let (labels, path_of) = (&new.spec.template.metadata.labels, path.child("spec.template.metadata.labels"));
    for (label, value) in &expected {
        let (path, detail) = (path_of.key(label), format!("must be '{value}'"));
        match labels.get(*label) {
            None => v.required(&path, detail),
            Some(is) if is != *value => v.invalid(&path, BadValue::string_map(labels), detail),
            Some(_) => {}
        }
    }
    let expected = expected.into_iter().map(|(label, value)| (label.to_owned(), value.clone())).collect();
    if compiled_selector(Some(selector)).is_some_and(|compiled| !selects(&compiled, &expected)) {
        v.invalid(&path.child("spec.selector"), internal_value(selector), "`selector` not auto-generated");
    }
}

/// Validates the pod names of indexed jobs, which consist of the job's name and the index.
/// Hand-written, because the name is built from two values.
pub fn validate_names_of_pods(v: &mut Validation<'_>, path: &Path<'_>, new: &Job, _: Option<&Job>) {
    let host = format!("{}-{}", new.metadata.name, new.spec.completions.unwrap_or_default() - 1);
    if !is_dns1123_label(&host).is_empty() {
        let detail = format!("will not able to create pod with invalid DNS label: {host}");
        v.invalid(&path.child("metadata.name"), &new.metadata.name, detail);
    }
}

/// Validates exit codes. Hand-written, because each code is compared with the operator and with the
/// previous code.
pub fn validate_exit_codes(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &PodFailurePolicyOnExitCodesRequirement,
    _: Option<&PodFailurePolicyOnExitCodesRequirement>,
) {
    let (path, values, mut seen) =
        (path.child(json_name!(PodFailurePolicyOnExitCodesRequirement.values)), &new.values, BTreeSet::new());
    for (index, code) in values.iter().enumerate() {
        let path = path.index(index);
        if new.operator == pod_failure_policy_on_exit_codes_operator::IN && *code == 0 {
            v.invalid(&path, *code, "must not be 0 for the In operator");
        }
        if !seen.insert(code) {
            v.duplicate(&path, *code);
        }
    }
    if !values.is_sorted() {
        let shown: Vec<String> = values.iter().map(i32::to_string).collect();
        v.invalid(&path, BadValue::Json(format!("[{}]", shown.join(","))), "must be ordered");
    }
}
