//! Hand-written validation of `batch` that declared checks call (`pkg/apis/batch/validation`).

mod indexes;
mod job;
mod schedule;

pub use crate::apps::{choose_values_of_pods, validate_selector_of_pods, validate_template};
pub use indexes::{validate_failed_indexes, validate_index_formats, validate_success_rules, validate_uncounted_pods};
pub use job::{validate_exit_codes, validate_generated_selector, validate_job_metadata, validate_names_of_pods};
pub use meta::{validate_new_or_changed_metadata, validate_whole_metadata_update};
pub use schedule::{validate_schedule, validate_time_zone};
