//! Printed columns and selectable fields of `batch` that are computed: the functions of `by_hand = ..`
//! in its definitions.

use apimachinery::meta::v1::condition_status;
use machinery::print::{Cell, PrintContext, human_duration};

use generated::batch::v1::{CronJob, Job, job_condition_type};

pub fn cron_job_suspend(job: &CronJob, _: &PrintContext) -> Cell {
    match job.spec.suspend {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    }
    .into()
}

pub fn job_completions(job: &Job, _: &PrintContext) -> Cell {
    let succeeded = job.status.succeeded;
    match (job.spec.completions, job.spec.parallelism) {
        (Some(completions), _) => format!("{succeeded}/{completions}"),
        (None, Some(parallelism)) if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
        (None, _) => format!("{succeeded}/1"),
    }
    .into()
}

pub fn job_duration(job: &Job, context: &PrintContext) -> Cell {
    job.status.start_time.map_or("".into(), |start| {
        let end = job.status.completion_time.unwrap_or(context.now);
        human_duration(end.unix() - start.unix()).into()
    })
}

pub fn job_status(job: &Job, _: &PrintContext) -> Cell {
    let is = |kind: &str| job.status.conditions.iter().any(|c| c.r#type == kind && c.status == condition_status::TRUE);
    if let Some(kind) = [job_condition_type::COMPLETE, job_condition_type::FAILED].into_iter().find(|kind| is(kind)) {
        return kind.into();
    }
    if job.metadata.deletion_timestamp.is_some() {
        return "Terminating".into();
    }
    [job_condition_type::SUSPENDED, job_condition_type::FAILURE_TARGET, job_condition_type::SUCCESS_CRITERIA_MET]
        .into_iter()
        .find(|kind| is(kind))
        .unwrap_or("Running")
        .into()
}

pub fn job_successful_label(job: &Job) -> String {
    job.status.succeeded.to_string()
}
