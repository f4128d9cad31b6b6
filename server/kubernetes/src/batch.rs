//! Hand-written functions that definitions of `batch` refer to.

use super::core::meta::labels_from_template;
use generated::batch::v1::{Job, pod_replacement_policy};

mod columns;
mod strategy;
mod validation;
mod warnings;

pub use columns::*;
pub use strategy::create_job;
pub use validation::*;
pub use warnings::*;

/// Default backoff limit of a job.
const BACKOFF_LIMIT: i32 = 6;

/// Mirrors `SetDefaults_Job`: a job without numbers runs one pod; a job with only `parallelism` is a
/// work queue.
pub fn default_job(job: &mut Job) {
    let spec = &mut job.spec;
    if spec.completions.is_none() && spec.parallelism.is_none() {
        spec.completions = Some(1);
    }
    spec.parallelism.get_or_insert(1);
    let limit = if spec.backoff_limit_per_index.is_some() { i32::MAX } else { BACKOFF_LIMIT };
    spec.backoff_limit.get_or_insert(limit);
    labels_from_template(&mut job.metadata.labels, &spec.template.metadata.labels);
    let policy = match spec.pod_failure_policy {
        Some(_) => pod_replacement_policy::FAILED,
        None => pod_replacement_policy::TERMINATING_OR_FAILED,
    };
    spec.pod_replacement_policy.get_or_insert_with(|| policy.to_owned());
}
