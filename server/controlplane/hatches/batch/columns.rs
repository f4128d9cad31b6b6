//! Printed columns and selectable fields of `batch` that take more than a path: the functions its definitions name with `by_hand`.

pub fn cron_job_suspend(_: &crate::batch::v1::CronJob, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn job_completions(_: &crate::batch::v1::Job, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn job_duration(_: &crate::batch::v1::Job, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn job_status(_: &crate::batch::v1::Job, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn job_successful_label(_: &crate::batch::v1::Job) -> String { String::new() }
