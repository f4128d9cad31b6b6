//! What upstream checks by hand in kinds of `batch` (`pkg/apis/batch/validation`).

mod cron_job;
mod failure_policy;
mod indexes;
mod job;
mod job_spec;
mod job_status;
mod job_update;
mod schedule;
mod success_policy;
mod time_zone;

pub use cron_job::validate_cron_job;
pub use job::validate_job;
