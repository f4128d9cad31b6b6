//! What upstream checks by hand in kinds of `batch` (`pkg/apis/batch/validation`).

#[path = "validation/cron_job.rs"]
mod cron_job;
#[path = "validation/failure_policy.rs"]
mod failure_policy;
#[path = "validation/indexes.rs"]
mod indexes;
#[path = "validation/job.rs"]
mod job;
#[path = "validation/job_spec.rs"]
mod job_spec;
#[path = "validation/job_status.rs"]
mod job_status;
#[path = "validation/job_update.rs"]
mod job_update;
#[path = "validation/schedule.rs"]
mod schedule;
#[path = "validation/success_policy.rs"]
mod success_policy;
#[path = "validation/time_zone.rs"]
mod time_zone;

pub use cron_job::validate_cron_job;
pub use job::validate_job;
