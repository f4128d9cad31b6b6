//! Strategy of jobs: generates the selector of their pods.

use machinery::hooks::WriteContext;

use generated::batch::v1::Job;

pub(super) const CONTROLLER_UID: &str = "batch.kubernetes.io/controller-uid";
pub(super) const JOB_NAME: &str = "batch.kubernetes.io/job-name";
/// [`CONTROLLER_UID`] before 1.27.
pub(super) const LEGACY_CONTROLLER_UID: &str = "controller-uid";
/// [`JOB_NAME`] before 1.27.
pub(super) const LEGACY_JOB_NAME: &str = "job-name";

/// Mirrors `jobStrategy.PrepareForCreate`. Labels that were defaulted from the template follow its
/// changes, as upstream, where both are the same map. A job without labels is stored without them, and
/// gets those of its template as a default when it is read.
pub fn create_job(_: &WriteContext, job: &mut Job, _: Option<&Job>) {
    if job.spec.manual_selector == Some(true) {
        return;
    }
    let follows = !job.metadata.labels.is_empty() && job.metadata.labels == job.spec.template.metadata.labels;
    let (uid, name) = (job.metadata.uid.clone(), job.metadata.name.clone());
    let labels = &mut job.spec.template.metadata.labels;
    for (key, value) in
        [(LEGACY_JOB_NAME, &name), (JOB_NAME, &name), (LEGACY_CONTROLLER_UID, &uid), (CONTROLLER_UID, &uid)]
    {
        labels.entry(key.into()).or_insert_with(|| value.clone());
    }
    if follows {
        job.metadata.labels = job.spec.template.metadata.labels.clone();
    }
    let selector = job.spec.selector.get_or_insert_default();
    selector.match_labels.entry(CONTROLLER_UID.into()).or_insert(uid);
}
