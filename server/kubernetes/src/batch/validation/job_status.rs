//! What the controller says about a job. As others may control jobs too (KEP-4368), it is checked; what is wrong
//! already may stay.

use std::collections::BTreeSet;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::scalar::Time;

use super::indexes::{count_indexes, first_overlap};
use super::job_spec::INDEXED;
use crate::core::internal::internal_value;
use generated::batch::v1::{Job, JobCondition, JobStatus, UncountedTerminatedPods};

const COMPLETE: &str = "Complete";
const FAILED: &str = "Failed";
const FAILURE_TARGET: &str = "FailureTarget";
/// No pod runs until the job goes on.
pub(super) const SUSPENDED: &str = "Suspended";
const SUCCESS_CRITERIA_MET: &str = "SuccessCriteriaMet";

/// Whether a condition holds.
pub(super) fn is_true(status: &JobStatus, condition: &str) -> bool {
    status.conditions.iter().any(|c| c.r#type == condition && c.status == "True")
}

fn is_finished(status: &JobStatus) -> bool {
    is_true(status, COMPLETE) || is_true(status, FAILED)
}

/// By hand: what is asked depends on conditions, which are looked up in a list, now and before.
pub fn validate_job_status_change(v: &mut Validation<'_>, path: &Path<'_>, new: &Job, old: Option<&Job>) {
    let Some(old) = old else { return };
    let path = path.child("status");
    let change = Change { new, is: &new.status, was: &old.status };
    change.validate_completion(v, &path);
    change.validate_finish(v, &path);
    change.validate_indexes(v, &path);
    change.validate_pods(v, &path);
    change.validate_success(v, &path.child("conditions"));
    change.validate_direction(v, &path);
}

/// The status of a job before and after.
struct Change<'j> {
    new: &'j Job,
    is: &'j JobStatus,
    was: &'j JobStatus,
}

impl Change<'_> {
    /// Whether one of these conditions began or ceased to hold.
    fn flips(&self, conditions: &[&str]) -> bool {
        conditions.iter().any(|condition| is_true(self.is, condition) != is_true(self.was, condition))
    }

    /// Whether the job goes on after it was suspended, which the status may tell later than the spec.
    fn resumes(&self) -> bool {
        let is_false = |condition: &JobCondition| condition.r#type == SUSPENDED && condition.status == "False";
        is_true(self.was, SUSPENDED) && self.is.conditions.iter().any(is_false)
    }

    fn finishes(&self) -> bool {
        is_finished(self.is) != is_finished(self.was)
    }

    /// Conditions that exclude each other, and the time at which the job was complete.
    fn validate_completion(&self, v: &mut Validation<'_>, path: &Path<'_>) {
        let (conditions, time) = (path.child("conditions"), path.child("completionTime"));
        let complete = is_true(self.is, COMPLETE);
        if complete && is_true(self.is, FAILED) && self.flips(&[COMPLETE, FAILED]) {
            v.invalid(&conditions, BadValue::Omitted, "cannot set Complete=True and Failed=true conditions");
        }
        if complete && is_true(self.is, FAILURE_TARGET) && self.flips(&[COMPLETE, FAILURE_TARGET]) {
            v.invalid(&conditions, BadValue::Omitted, "cannot set Complete=True and FailureTarget=true conditions");
        }
        let (started, completed) = (self.is.start_time, self.is.completion_time);
        let time_changed = completed != self.was.completion_time;
        if self.flips(&[COMPLETE]) || time_changed {
            match completed {
                Some(completed) if !complete => {
                    let detail = "cannot set completionTime when there is no Complete=True condition";
                    v.invalid(&time, shown(completed), detail);
                }
                None if complete => v.required(&time, "completionTime is required for Complete jobs"),
                _ => {}
            }
        }
        if let (Some(started), Some(completed)) = (started, completed)
            && (time_changed || self.is.start_time != self.was.start_time)
            && completed < started
        {
            v.invalid(&time, shown(completed), "must be equal to or after `startTime`");
        }
        let failed_changed = self.flips(&[FAILED]) || self.is.failed_indexes != self.was.failed_indexes;
        if is_true(self.is, FAILED) && !is_true(self.is, FAILURE_TARGET) && failed_changed {
            let detail = "cannot set Failed=True condition without the FailureTarget=true condition";
            v.invalid(&conditions, BadValue::Omitted, detail);
        }
        if complete && !is_true(self.is, SUCCESS_CRITERIA_MET) && self.flips(&[COMPLETE, SUCCESS_CRITERIA_MET]) {
            let detail = "cannot set Complete=True condition without the SuccessCriteriaMet=true condition";
            v.invalid(&conditions, BadValue::Omitted, detail);
        }
    }

    /// A finished job has started, and has no pods left.
    fn validate_finish(&self, v: &mut Validation<'_>, path: &Path<'_>) {
        if !is_finished(self.is) {
            return;
        }
        let (is, was) = (self.is, self.was);
        if is.active > 0 && (self.finishes() || is.active != was.active) {
            v.invalid(&path.child("active"), is.active, "active>0 is invalid for finished job");
        }
        // A suspended job without completions is finished before it starts.
        let never_starts = self.new.spec.suspend == Some(true) && self.new.spec.completions == Some(0);
        if is.start_time.is_none() && !never_starts && (self.finishes() || is.start_time != was.start_time) {
            v.required(&path.child("startTime"), "startTime is required for finished job");
        }
        let changed = is.uncounted_terminated_pods != was.uncounted_terminated_pods;
        let pods = is.uncounted_terminated_pods.as_deref();
        let pods = pods.filter(|pods| !pods.failed.is_empty() || !pods.succeeded.is_empty());
        if let Some(pods) = pods.filter(|_| self.finishes() || changed) {
            let detail = "must be empty for finished job";
            v.invalid(&path.child("uncountedTerminatedPods"), internal_value(pods), detail);
        }
    }

    fn validate_indexes(&self, v: &mut Validation<'_>, path: &Path<'_>) {
        let (spec, completed) = (&self.new.spec, &self.is.completed_indexes);
        let (completed_path, failed_path) = (path.child("completedIndexes"), path.child("failedIndexes"));
        let completed_changed = self.is.completed_indexes != self.was.completed_indexes;
        let failed = self.is.failed_indexes.as_ref();
        let failed_changed = self.is.failed_indexes != self.was.failed_indexes;
        if let Some(completions) = spec.completions.filter(|_| completed_changed)
            && let Err(why) = count_indexes(completed, completions)
        {
            v.invalid(&completed_path, completed, format!("error parsing completedIndexes: {why}"));
        }
        if let (Some(completions), Some(failed)) = (spec.completions, failed.filter(|_| failed_changed))
            && spec.backoff_limit_per_index.is_some()
            && let Err(why) = count_indexes(failed, completions)
        {
            let detail = format!("error parsing failedIndexes: {why}");
            v.invalid(&failed_path, BadValue::json_string(failed), detail);
        }
        if completed_changed && !completed.is_empty() && spec.completion_mode.as_deref() != Some(INDEXED) {
            let detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
            v.invalid(&completed_path, completed, detail);
        }
        let Some(failed) = failed else { return };
        if failed_changed && spec.backoff_limit_per_index.is_none() {
            v.invalid(&failed_path, failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
        }
        if let Some(completions) = spec.completions.filter(|_| failed_changed || completed_changed)
            && let Some(index) = first_overlap(completed, failed, completions)
        {
            let detail = format!("failedIndexes and completedIndexes overlap at index: {index}");
            v.invalid(&failed_path, failed, detail);
        }
    }

    fn validate_pods(&self, v: &mut Validation<'_>, path: &Path<'_>) {
        let (is, was) = (self.is, self.was);
        if let Some(terminating) = is.terminating.filter(|terminating| *terminating > 0)
            && is_finished(is)
            && (self.finishes() || is.terminating != was.terminating)
        {
            v.invalid(&path.child("terminating"), terminating, "terminating>0 is invalid for finished job");
        }
        if let Some(ready) = is.ready.filter(|ready| *ready > is.active)
            && (is.ready != was.ready || is.active != was.active)
        {
            v.invalid(&path.child("ready"), ready, "cannot set more ready pods than active");
        }
    }

    /// What goes with the success criteria.
    fn validate_success(&self, v: &mut Validation<'_>, path: &Path<'_>) {
        let met = is_true(self.is, SUCCESS_CRITERIA_MET);
        for (wrong, detail) in [
            (met && is_true(self.is, FAILED), "cannot set SuccessCriteriaMet=True and Failed=true conditions"),
            (
                met && is_true(self.is, FAILURE_TARGET),
                "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
            ),
            (
                !met && self.new.spec.success_policy.is_some() && is_true(self.is, COMPLETE),
                "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
            ),
        ] {
            if wrong {
                v.invalid(path, BadValue::Omitted, detail);
            }
        }
    }

    /// What does not go back.
    fn validate_direction(&self, v: &mut Validation<'_>, path: &Path<'_>) {
        let (is, was, spec) = (self.is, self.was, &self.new.spec);
        let conditions = path.child("conditions");
        for condition in [FAILED, COMPLETE, FAILURE_TARGET] {
            if is_true(was, condition) && !is_true(is, condition) {
                let detail = format!("cannot disable the terminal {condition}=True condition");
                v.invalid(&conditions, BadValue::Omitted, detail);
            }
        }
        if is.failed < was.failed {
            v.invalid(&path.child("failed"), is.failed, "cannot decrease the failed counter");
        }
        // Jobs that can shrink lose pods that have succeeded.
        let elastic = spec.completion_mode.as_deref() == Some(INDEXED) && spec.completions == spec.parallelism;
        if !elastic && is.succeeded < was.succeeded {
            v.invalid(&path.child("succeeded"), is.succeeded, "cannot decrease the succeeded counter");
        }
        if let (Some(is), Some(was)) = (is.completion_time, was.completion_time)
            && is != was
        {
            v.invalid(&path.child("completionTime"), shown(is), "field is immutable");
        }
        let restarts = was.start_time.is_some() && is.start_time != was.start_time;
        if restarts && spec.suspend != Some(true) && !self.resumes() {
            let detail = "field is immutable for unsuspended job once set";
            v.invalid(&path.child("startTime"), is.start_time.map_or(BadValue::None, shown), detail);
        }
        let (met, had_met) = (is_true(is, SUCCESS_CRITERIA_MET), is_true(was, SUCCESS_CRITERIA_MET));
        if had_met && !met {
            v.invalid(&conditions, BadValue::Omitted, "cannot disable the SuccessCriteriaMet=True condition");
        }
        if is_true(was, COMPLETE) && !had_met && met {
            let detail = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
            v.invalid(&conditions, BadValue::Omitted, detail);
        }
    }
}

fn shown(time: Time) -> BadValue {
    BadValue::json_string(&time.to_string())
}

/// By hand: two lists share no item.
pub fn validate_uncounted_pods(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &UncountedTerminatedPods,
    _: Option<&UncountedTerminatedPods>,
) {
    let mut seen = BTreeSet::new();
    for (list, uids) in [("succeeded", &new.succeeded), ("failed", &new.failed)] {
        let path = path.child(list);
        for (index, uid) in uids.iter().enumerate() {
            let path = path.index(index);
            if uid.is_empty() {
                v.invalid(&path, BadValue::json_string(uid), "must not be empty");
            } else if !seen.insert(uid) {
                v.duplicate(&path, BadValue::json_string(uid));
            }
        }
    }
}
