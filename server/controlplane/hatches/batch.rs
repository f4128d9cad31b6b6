//! Hand-written functions that definitions of `batch` name.

pub fn cron_job_suspend(_: &crate::batch::v1::CronJob, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn default_job(_: &mut crate::batch::v1::Job) {}
pub fn job_completions(_: &crate::batch::v1::Job, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn job_duration(_: &crate::batch::v1::Job, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn job_status(_: &crate::batch::v1::Job, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn job_successful_label(_: &crate::batch::v1::Job) -> String { String::new() }
