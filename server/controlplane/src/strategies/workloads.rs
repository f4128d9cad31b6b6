//! Jobs, whose pods are found by a selector made for them, and daemon sets, which count their templates.

use std::collections::BTreeMap;

use generated::apps::v1::DaemonSet;
use generated::batch::v1::Job;
use machinery::reflect::{Owned, Ref};
use registry::Context;

const CONTROLLER_UID: &str = "batch.kubernetes.io/controller-uid";
const JOB_NAME: &str = "batch.kubernetes.io/job-name";
/// Both labels under their names of before 1.27.
const LEGACY: [&str; 2] = ["controller-uid", "job-name"];

/// What internal versions keep as `templateGeneration` (`DeprecatedTemplateGeneration`).
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Mirrors `jobStrategy.PrepareForCreate`. Labels that were defaulted from the template follow it, as upstream, where both are one map.
pub fn create_job(_: &Context, object: &mut Owned, _: Ref<'_>) {
    let Some(job) = object.downcast_mut::<Job>() else { return };
    if job.spec.manual_selector == Some(true) {
        return;
    }
    let follows = job.metadata.labels.is_empty() || job.metadata.labels == job.spec.template.metadata.labels;
    let (uid, name) = (job.metadata.uid.clone(), job.metadata.name.clone());
    let labels = &mut job.spec.template.metadata.labels;
    for (key, value) in [(LEGACY[1], &name), (JOB_NAME, &name), (LEGACY[0], &uid), (CONTROLLER_UID, &uid)] {
        labels.entry(key.into()).or_insert_with(|| value.clone());
    }
    if follows {
        job.metadata.labels = job.spec.template.metadata.labels.clone();
    }
    let selector = job.spec.selector.get_or_insert_default();
    selector.match_labels.entry(CONTROLLER_UID.into()).or_insert(uid);
}

/// Mirrors `daemonSetStrategy.PrepareForCreate`.
pub fn create_daemon_set(_: &Context, object: &mut Owned, _: Ref<'_>) {
    let Some(set) = object.downcast_mut::<DaemonSet>() else { return };
    let generation = template_generation(&set.metadata.annotations).max(1);
    set.metadata.annotations.insert(TEMPLATE_GENERATION.into(), generation.to_string());
}

/// Mirrors `daemonSetStrategy.PrepareForUpdate`: a new template is counted, clients' own counts are not.
pub fn update_daemon_set(context: &Context, new: &mut Owned, old: Ref<'_>) {
    if !context.subresource.is_empty() {
        return;
    }
    let (Some(new), Some(old)) = (new.downcast_mut::<DaemonSet>(), old.downcast::<DaemonSet>()) else { return };
    let changed = Ref::of(&new.spec.template) != Ref::of(&old.spec.template);
    let generation = template_generation(&old.metadata.annotations) + i64::from(changed);
    new.metadata.annotations.insert(TEMPLATE_GENERATION.into(), generation.to_string());
}

fn template_generation(annotations: &BTreeMap<String, String>) -> i64 {
    annotations.get(TEMPLATE_GENERATION).and_then(|text| text.parse().ok()).unwrap_or(0)
}
