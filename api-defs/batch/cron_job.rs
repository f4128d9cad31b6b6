use crate::core::ObjectReference;
use crate::meta::ObjectMeta;

/// Creates Jobs on a repeating cron schedule.
#[kind(plural = "cronjobs", short = "cj", category = "all", scope = Namespaced, metadata = unchecked)]
#[versions(
    v1(introduced = "1.21"),
    v1beta1(introduced = "1.8", deprecated = "1.21", removed = "1.25", replacement = "batch/v1 CronJob")
)]
#[subresource(status, resets(spec))]
#[column("Schedule", spec.schedule)]
#[column("Timezone", spec.timeZone or "<none>")]
#[column("Suspend", boolean, by_hand = cron_job_suspend, reads(spec.suspend), "Whether no further jobs are begun.")]
#[column("Active", integer, len(status.active))]
#[column("Last Schedule", age(status.lastScheduleTime) or "<none>")]
#[column("Age", age)]
#[column("Containers", join(spec.jobTemplate.spec.template.spec.containers.name), priority = 1)]
#[column("Images", join(spec.jobTemplate.spec.template.spec.containers.image), priority = 1)]
#[column("Selector", selector(spec.jobTemplate.spec.selector), priority = 1)]
#[default(spec.concurrencyPolicy = Allow)]
#[default(spec.suspend = false)]
#[default(spec.successfulJobsHistoryLimit = 3)]
#[default(spec.failedJobsHistoryLimit = 1)]
#[strategy(warnings = warn_cron_job)]
#[check(metadata, by_hand = validate_new_or_changed_metadata, when(subresource = ""))]
#[check(spec, below, when(subresource = ""))]
#[check(metadata.name, max_bytes(52, "must be no more than 52 characters"), when(create))]
pub struct CronJob {
    /// Name, namespace, labels and annotations; names are limited to 52 characters.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Schedule, concurrency rules and the Job to create.
    #[field(2, required)]
    pub spec: CronJobSpec,

    /// Running Jobs and times of recent activity.
    #[field(3)]
    pub status: CronJobStatus,
}

/// When to start Jobs and what they look like.
#[condition(zoned, matches(schedule, "TZ"))]
#[check(schedule, required)]
#[check(self, by_hand = validate_schedule, when(set(schedule)))]
#[check(
    schedule,
    invalid = "cannot use both timeZone field and TZ or CRON_TZ in schedule",
    when(zoned, was(zoned), set(timeZone))
)]
#[check(
    schedule,
    invalid = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead",
    when(zoned, not(was(zoned)))
)]
#[check(startingDeadlineSeconds, not_negative)]
#[check(
    timeZone,
    invalid = "timeZone must be nil or non-empty string",
    when(set(timeZone), timeZone = "", changed(timeZone))
)]
#[check(
    timeZone,
    invalid = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
    when(matches(timeZone, "(?i)^local$"), changed(timeZone))
)]
#[check(self, by_hand = validate_time_zone, when(changed(timeZone), not(timeZone = "")))]
#[check(concurrencyPolicy, required, one_of(Allow, Forbid, Replace))]
#[check(jobTemplate.spec, below)]
#[check(
    jobTemplate.spec.selector,
    invalid = "`selector` will be auto-generated",
    when(set(jobTemplate.spec.selector))
)]
#[check(jobTemplate.spec.manualSelector, unsupported("nil", "false"), when(jobTemplate.spec.manualSelector = true))]
#[check(successfulJobsHistoryLimit, not_negative)]
#[check(failedJobsHistoryLimit, not_negative)]
pub struct CronJobSpec {
    /// Cron expression of five fields, e.g. `*/15 * * * *`, or `@hourly` style macros.
    #[field(1, required)]
    pub schedule: String,

    /// IANA zone for the schedule, e.g. `Europe/Paris`; else the controller manager's zone.
    #[field(8)]
    pub time_zone: Option<String>,

    /// Seconds a missed start may be made up late; unlimited when unset.
    #[field(2)]
    pub starting_deadline_seconds: Option<i64>,

    /// Treatment of a run while the previous one is unfinished: `Allow` (default), `Forbid`, `Replace`.
    #[field(3)]
    pub concurrency_policy: ConcurrencyPolicy,

    /// Stops new runs while true; Jobs already started carry on.
    #[field(4)]
    pub suspend: Option<bool>,

    /// Blueprint for the Job created at each scheduled time.
    #[field(5, required)]
    pub job_template: JobTemplateSpec,

    /// Finished successful Jobs to keep; default 3.
    #[field(6)]
    pub successful_jobs_history_limit: Option<i32>,

    /// Finished failed Jobs to keep; default 1.
    #[field(7)]
    pub failed_jobs_history_limit: Option<i32>,
}

/// Treatment of overlapping runs of a CronJob.
pub enum ConcurrencyPolicy {
    Allow,
    Forbid,
    Replace,
}

/// Blueprint from which a CronJob makes its Jobs.
pub struct JobTemplateSpec {
    /// Labels and annotations copied to each created Job.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Settings for each Job made from the blueprint.
    #[field(2)]
    pub spec: JobSpec,
}

/// Activity recorded by the CronJob controller.
pub struct CronJobStatus {
    /// Jobs from this CronJob that are still running.
    #[field(1, list = atomic)]
    pub active: Vec<ObjectReference>,

    /// When a Job was last started on schedule.
    #[field(4)]
    pub last_schedule_time: Option<Time>,

    /// When a Job last finished successfully.
    #[field(5)]
    pub last_successful_time: Option<Time>,
}
