//! Cron jobs.

use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;
use meta::{validate_whole_object_meta, validate_whole_object_meta_update};

use generated::batch::v1::CronJob;

/// By hand: metadata of writes of the status are not looked at.
pub fn validate_cron_job_metadata(v: &mut Validation<'_>, _: &Path<'_>, new: &CronJob, old: Option<&CronJob>) {
    match old {
        None => validate_whole_object_meta(v, &new.metadata, true, NameRule::Dns1123Subdomain),
        Some(old) => validate_whole_object_meta_update(v, &new.metadata, &old.metadata),
    }
}
