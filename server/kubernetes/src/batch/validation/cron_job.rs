//! Cron jobs.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;
use meta::{validate_whole_object_meta, validate_whole_object_meta_update};

use super::job_spec::validate_spec;
use super::schedule::validate_schedule;
use super::time_zone::validate_time_zone;
use crate::core::PodOptions;
use crate::core::internal::internal_value;
use generated::batch::v1::{CronJob, CronJobSpec, JobTemplateSpec};

const POLICIES: [&str; 3] = ["Allow", "Forbid", "Replace"];
/// What is left of a job's name once the controller has added the time.
const MAX_NAME: usize = 52;

/// `ValidateCronJobCreate`, `ValidateCronJobUpdate`
pub fn validate_cron_job(v: &mut Validation<'_>, _: &Path<'_>, new: &CronJob, old: Option<&CronJob>) {
    if !v.context.subresource.is_empty() {
        // Writes of the status are not looked at, their metadata no more than the rest.
        return;
    }
    match old {
        None => validate_whole_object_meta(v, &new.metadata, true, NameRule::Dns1123Subdomain),
        Some(old) => validate_whole_object_meta_update(v, &new.metadata, &old.metadata),
    }
    let old_spec = old.map(|old| &old.spec);
    let options = PodOptions::of_template(v.context, old_spec.map(|old| &old.job_template.spec.template));
    validate_cron_job_spec(v, &Path::new("spec"), &new.spec, old_spec, &options);
    let name = &new.metadata.name;
    if old.is_none() && name.len() > MAX_NAME {
        let path = Path::new("metadata");
        v.invalid(&path.child("name"), name, format!("must be no more than {MAX_NAME} characters"));
    }
}

/// `validateCronJobSpec`
fn validate_cron_job_spec(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &CronJobSpec,
    old: Option<&CronJobSpec>,
    options: &PodOptions,
) {
    if spec.schedule.is_empty() {
        v.required(&path.child("schedule"), "");
    } else {
        let zone_in_schedule = old.is_some_and(|old| old.schedule.contains("TZ"));
        validate_schedule(v, &path.child("schedule"), spec, zone_in_schedule);
    }
    if let Some(seconds) = spec.starting_deadline_seconds {
        v.not_negative(&path.child("startingDeadlineSeconds"), seconds);
    }
    if let Some(zone) = spec.time_zone.as_deref()
        && old.is_none_or(|old| old.time_zone != spec.time_zone)
    {
        validate_time_zone(v, &path.child("timeZone"), zone);
    }
    v.required_one_of(&path.child("concurrencyPolicy"), &spec.concurrency_policy, &POLICIES);
    validate_template(v, &path.child("jobTemplate"), &spec.job_template, options);
    for (field, limit) in [
        ("successfulJobsHistoryLimit", spec.successful_jobs_history_limit),
        ("failedJobsHistoryLimit", spec.failed_jobs_history_limit),
    ] {
        if let Some(limit) = limit {
            v.not_negative(&path.child(field), limit);
        }
    }
}

/// `ValidateJobTemplateSpec`: the selectors of jobs are made for them.
fn validate_template(v: &mut Validation<'_>, path: &Path<'_>, template: &JobTemplateSpec, options: &PodOptions) {
    let (path, spec) = (path.child("spec"), &template.spec);
    validate_spec(v, &path, spec, options);
    if let Some(selector) = spec.selector.as_deref() {
        v.invalid(&path.child("selector"), internal_value(selector), "`selector` will be auto-generated");
    }
    if spec.manual_selector == Some(true) {
        v.not_supported(&path.child("manualSelector"), BadValue::Bool(true), &["nil", "false"]);
    }
}
