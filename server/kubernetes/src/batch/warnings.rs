//! Warnings about jobs and cron jobs.

use machinery::field_path::Path;
use machinery::hooks::WriteContext;
use machinery::json_name;

use crate::core::warnings::{warning_of_workload, warnings_of_template};
use generated::batch::v1::{CronJob, CronJobSpec, Job, JobSpec, JobTemplateSpec, completion_mode};

const MANY_COMPLETIONS: i32 = 100_000;
const MANY_PODS: i32 = 10_000;
const MANY: &str = "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes \
    might not be able to track completedIndexes when a big number of indexes fail";

/// Mirrors `jobStrategy.WarningsOnCreate`, `WarningsOnUpdate`.
pub fn warn_job(context: &WriteContext, new: &Job, old: Option<&Job>) -> Vec<String> {
    if !context.subresource.is_empty() || old.is_some_and(|old| old.metadata.generation == new.metadata.generation) {
        return Vec::new();
    }
    let name = old.is_none().then(|| warning_of_workload(&new.metadata.name)).flatten();
    name.into_iter().chain(warnings_of_spec(&Path::new(json_name!(Job.spec)), &new.spec)).collect()
}

/// Mirrors `cronJobStrategy.WarningsOnCreate`, `WarningsOnUpdate`.
pub fn warn_cron_job(context: &WriteContext, new: &CronJob, old: Option<&CronJob>) -> Vec<String> {
    if !context.subresource.is_empty() {
        return Vec::new();
    }
    let mut out: Vec<String> =
        old.is_none().then(|| warning_of_workload(&new.metadata.name)).flatten().into_iter().collect();
    if old.is_none_or(|old| old.metadata.generation != new.metadata.generation) {
        let path = Path::new(json_name!(CronJob.spec));
        let path = path.child(json_name!(CronJobSpec.job_template));
        out.extend(warnings_of_spec(&path.child(json_name!(JobTemplateSpec.spec)), &new.spec.job_template.spec));
    }
    if new.spec.schedule.contains("TZ") {
        out.push(
            "CRON_TZ or TZ used in spec.spec.schedule is not officially supported, see \
             https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
                .to_owned(),
        );
    }
    out
}

/// `WarningsForJobSpec`
fn warnings_of_spec(path: &Path<'_>, spec: &JobSpec) -> Vec<String> {
    let mut out = Vec::new();
    let many = spec.completions.unwrap_or(0) > MANY_COMPLETIONS && spec.parallelism.unwrap_or(0) > MANY_PODS;
    if many && spec.completion_mode.as_deref() == Some(completion_mode::INDEXED) {
        out.push(format!("{path}: {MANY}"));
    }
    out.extend(warnings_of_template(&path.child(json_name!(JobSpec.template)), &spec.template));
    out
}
