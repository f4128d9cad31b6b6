//! Fields that left apps/v1 and live on in annotations, where older versions and the internal types have them as fields.

use std::collections::BTreeMap;

use generated::apps::v1::{DaemonSet, Deployment};
use generated::apps::v1beta1;

/// Generation of a daemon set's template (`DeprecatedTemplateGeneration`).
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Revision to which a deployment is to be rolled back (`DeprecatedRollbackTo`).
const ROLLBACK_TO: &str = "deprecated.deployment.rollback.to";

/// Takes a number out of an annotation. One that is no number stays where it is: upstream rejects the object, which only a decoder can.
fn take(annotations: &mut BTreeMap<String, String>, key: &str) -> Option<i64> {
    let number = annotations.get(key)?.parse().ok()?;
    annotations.remove(key);
    Some(number)
}

/// Moves the template generation from the annotation to where older versions have it.
pub fn take_template_generation(annotations: &mut BTreeMap<String, String>) -> Option<i64> {
    take(annotations, TEMPLATE_GENERATION)
}

/// Writes the annotation, also for 0.
pub fn put_template_generation(annotations: &mut BTreeMap<String, String>, generation: i64) {
    annotations.entry(TEMPLATE_GENERATION.to_owned()).or_insert_with(|| generation.to_string());
}

/// Moves the wanted revision from the annotation to where older versions have it.
pub fn take_rollback_to(annotations: &mut BTreeMap<String, String>) -> Option<i64> {
    take(annotations, ROLLBACK_TO)
}

/// Writes the annotation.
pub fn put_rollback_to(annotations: &mut BTreeMap<String, String>, revision: i64) {
    annotations.insert(ROLLBACK_TO.to_owned(), revision.to_string());
}

/// The annotation is always there.
pub fn normalize_daemon_set(set: &mut DaemonSet) {
    let annotations = &mut set.metadata.annotations;
    let generation = take_template_generation(annotations).unwrap_or_default();
    put_template_generation(annotations, generation);
}

/// The annotation is a number in its plain form.
pub fn normalize_deployment(deployment: &mut Deployment) {
    let annotations = &mut deployment.metadata.annotations;
    if let Some(revision) = take_rollback_to(annotations) {
        put_rollback_to(annotations, revision);
    }
}

/// `spec.rollbackTo` becomes the annotation.
pub fn v1beta1_deployment_to_hub(from: &mut v1beta1::Deployment, to: &mut Deployment) {
    if let Some(rollback) = from.spec.rollback_to.take() {
        put_rollback_to(&mut to.metadata.annotations, rollback.revision);
    }
}

/// The annotation becomes `spec.rollbackTo`.
pub fn v1beta1_deployment_from_hub(_: &mut Deployment, to: &mut v1beta1::Deployment) {
    if let Some(revision) = take_rollback_to(&mut to.metadata.annotations) {
        to.spec.rollback_to = Some(Box::new(v1beta1::RollbackConfig { revision }));
    }
}
