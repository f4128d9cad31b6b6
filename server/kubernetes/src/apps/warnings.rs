//! Warnings about workloads.

use machinery::field_path::Path;
use machinery::hooks::WriteContext;
use machinery::json_name;

use crate::core::warnings::volumes::warn_of_claim;
use crate::core::warnings::{warning_of_workload, warnings_of_template};
use generated::apps::v1::{DaemonSet, Deployment, DeploymentSpec, ReplicaSet, StatefulSet, StatefulSetSpec};
use generated::core::v1::PodTemplateSpec;
use generated::meta::v1::ObjectMeta;

const ALL_REVISIONS: &str =
    "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended";

/// Mirrors `deploymentStrategy.WarningsOnCreate`, `WarningsOnUpdate`.
pub fn warn_deployment(_: &WriteContext, new: &Deployment, old: Option<&Deployment>) -> Vec<String> {
    let name = old.is_none().then(|| warning_of_workload(&new.metadata.name)).flatten();
    let template = is_new(&new.metadata, old.map(|old| &old.metadata)).then(|| of_template(&new.spec.template));
    name.into_iter().chain(template.into_iter().flatten()).collect()
}

/// Mirrors `rsStrategy.WarningsOnCreate`, `WarningsOnUpdate`.
pub fn warn_replica_set(_: &WriteContext, new: &ReplicaSet, old: Option<&ReplicaSet>) -> Vec<String> {
    let name = old.is_none().then(|| warning_of_workload(&new.metadata.name)).flatten();
    let template = is_new(&new.metadata, old.map(|old| &old.metadata)).then(|| of_template(&new.spec.template));
    name.into_iter().chain(template.into_iter().flatten()).collect()
}

/// Mirrors `daemonSetStrategy.WarningsOnCreate`, `WarningsOnUpdate`.
pub fn warn_daemon_set(_: &WriteContext, new: &DaemonSet, old: Option<&DaemonSet>) -> Vec<String> {
    if old.is_some_and(|old| old.spec.template == new.spec.template) {
        return Vec::new();
    }
    of_template(&new.spec.template)
}

/// Mirrors `statefulSetStrategy.WarningsOnCreate`, `WarningsOnUpdate`.
pub fn warn_stateful_set(_: &WriteContext, new: &StatefulSet, old: Option<&StatefulSet>) -> Vec<String> {
    let mut out = Vec::new();
    if is_new(&new.metadata, old.map(|old| &old.metadata)) {
        out = of_template(&new.spec.template);
        let path = Path::new(json_name!(StatefulSet.spec));
        let path = path.child(json_name!(StatefulSetSpec.volume_claim_templates));
        for (index, claim) in new.spec.volume_claim_templates.iter().enumerate() {
            warn_of_claim(&path.index(index), &claim.spec, &mut out);
        }
    }
    if new.spec.revision_history_limit.is_some_and(|limit| limit < 0) {
        out.push(ALL_REVISIONS.to_owned());
    }
    out
}

/// Whether the object is new or its generation changed.
fn is_new(new: &ObjectMeta, old: Option<&ObjectMeta>) -> bool {
    old.is_none_or(|old| old.generation != new.generation)
}

fn of_template(template: &PodTemplateSpec) -> Vec<String> {
    let path = Path::new(json_name!(Deployment.spec));
    warnings_of_template(&path.child(json_name!(DeploymentSpec.template)), template)
}
