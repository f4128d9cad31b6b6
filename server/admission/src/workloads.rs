//! Plugins for gang scheduling: `PodGroupWorkloadExists`, `JobValidation`.

use std::sync::Arc;

use endpoints::{AdmissionAttributes, Operation};
use generated::batch::v1::Job;
use generated::scheduling::v1alpha2::{PodGroup, Workload};
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::Stores;

use super::forbidden;
use super::lookup::{find, find_all};

const GROUP: &str = "scheduling.k8s.io";

/// Requires that the workload template of a new pod group exists and is not being deleted.
pub async fn check_template(stores: &Stores, attributes: &AdmissionAttributes, object: &Owned) -> Result<(), Status> {
    if attributes.operation != Operation::Create || !attributes.subresource.is_empty() {
        return Ok(());
    }
    let Some(group) = object.downcast_ref::<PodGroup>() else { return Ok(()) };
    let template = group.spec.pod_group_template_ref.as_deref().and_then(|reference| reference.workload.as_deref());
    let Some(template) = template else { return Ok(()) };
    let name = &template.workload_name;
    let refused = |why: String| Err(forbidden(attributes, format!("PodGroup rejected: {why}")));
    let found = find::<Workload>(stores, attributes, (GROUP, "workloads"), (&attributes.namespace, name)).await?;
    let Some(workload) = found else { return refused(format!("Workload {name:?} not found")) };
    if workload.metadata.deletion_timestamp.is_some() {
        return refused(format!("Workload {name:?} is being deleted"));
    }
    let wanted = &template.pod_group_template_name;
    match workload.spec.pod_group_templates.iter().any(|known| known.name == *wanted) {
        true => Ok(()),
        false => refused(format!("PodGroupTemplate {wanted:?} not found in Workload {name:?}")),
    }
}

/// Rejects changes of `parallelism` for jobs with gang-scheduled pod groups.
pub async fn check_job(
    stores: &Stores,
    attributes: &AdmissionAttributes,
    object: &Owned,
    old: Option<&Owned>,
) -> Result<(), Status> {
    if attributes.operation != Operation::Update || !attributes.subresource.is_empty() {
        return Ok(());
    }
    let Some((job, old)) = object.downcast_ref::<Job>().zip(old.and_then(Owned::downcast_ref::<Job>)) else {
        return Ok(());
    };
    if job.spec.parallelism == old.spec.parallelism {
        return Ok(());
    }
    let groups = find_all::<PodGroup>(stores, attributes, (GROUP, "podgroups"), &attributes.namespace).await?;
    let named = old.spec.template.spec.scheduling_group.as_deref().and_then(|group| group.pod_group_name.as_deref());
    let is_of_job = |group: &&Arc<PodGroup>| match named {
        Some(name) => group.metadata.name == name,
        None => is_controlled_by(group, old),
    };
    let mut groups = groups.iter().filter(is_of_job);
    match groups.find(|group| group.spec.scheduling_policy.gang.is_some()) {
        Some(group) => {
            let name = &group.metadata.name;
            let why = format!("cannot change parallelism for a Job referencing gang-scheduled PodGroup {name:?}");
            Err(forbidden(attributes, why))
        }
        None => Ok(()),
    }
}

fn is_controlled_by(group: &PodGroup, job: &Job) -> bool {
    let mut owners = group.metadata.owner_references.iter();
    owners.any(|owner| owner.controller == Some(true) && owner.uid == job.metadata.uid)
}
