//! Fields that apps/v1 stores in annotations; older versions and the internal types have fields for
//! them.

use std::collections::BTreeMap;

use generated::apps::v1::{DaemonSet, Deployment};
use generated::apps::v1beta1;

/// Generation of a daemon set's template (`DeprecatedTemplateGeneration`).
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Revision to roll a deployment back to (`DeprecatedRollbackTo`).
const ROLLBACK_TO: &str = "deprecated.deployment.rollback.to";

/// Removes an annotation and returns its number. An annotation that is not a number is kept: upstream
/// rejects the object, which only a decoder can do.
fn take(annotations: &mut BTreeMap<String, String>, key: &str) -> Option<i64> {
    let number = annotations.get(key)?.parse().ok()?;
    annotations.remove(key);
    Some(number)
}

/// Removes the annotation and returns the template generation, for versions with a field for it.
pub fn take_template_generation(annotations: &mut BTreeMap<String, String>) -> Option<i64> {
    take(annotations, TEMPLATE_GENERATION)
}

/// Writes the annotation, also for 0.
pub fn put_template_generation(annotations: &mut BTreeMap<String, String>, generation: i64) {
    annotations.entry(TEMPLATE_GENERATION.to_owned()).or_insert_with(|| generation.to_string());
}

/// Removes the annotation and returns the rollback revision, for versions with a field for it.
pub fn take_rollback_to(annotations: &mut BTreeMap<String, String>) -> Option<i64> {
    take(annotations, ROLLBACK_TO)
}

/// Writes the annotation.
pub fn put_rollback_to(annotations: &mut BTreeMap<String, String>, revision: i64) {
    annotations.insert(ROLLBACK_TO.to_owned(), revision.to_string());
}

/// Adds the annotation if it is absent.
pub fn normalize_daemon_set(set: &mut DaemonSet) {
    let annotations = &mut set.metadata.annotations;
    let generation = take_template_generation(annotations).unwrap_or_default();
    put_template_generation(annotations, generation);
}

/// Formats the number in the annotation in canonical form.
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
