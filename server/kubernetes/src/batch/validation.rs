//! What declared checks of `batch` leave to functions (`pkg/apis/batch/validation`).

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

pub use cron_job::validate_cron_job_metadata;
pub use failure_policy::{validate_criteria, validate_exit_codes, validate_failure_rules};
pub use job::{
    validate_generated_selector, validate_job_metadata, validate_job_metadata_change, validate_names_of_pods,
};
pub use job_spec::{validate_many_completions, validate_pods_of_job, validate_selector_of_job};
pub use job_status::{validate_job_status_change, validate_uncounted_pods};
pub use job_update::{validate_elastic_completions, validate_template_change};
pub use schedule::validate_schedule;
pub use success_policy::validate_success_rules;
pub use time_zone::validate_time_zone;
