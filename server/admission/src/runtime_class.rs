//! `RuntimeClass`: copies overhead and scheduling of a runtime class to its pods.

use std::sync::Arc;

use endpoints::AdmissionAttributes;
use generated::core::v1::Pod;
use generated::node::v1::RuntimeClass;
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::Stores;

use super::lookup::find;
use super::toleration_restriction::merged;
use super::{body, body_mut, forbidden};

const CLASSES: (&str, &str) = ("node.k8s.io", "runtimeclasses");

/// Sets overhead, node selector, and tolerations.
pub async fn admit(stores: &Stores, attributes: &AdmissionAttributes, object: &mut Owned) -> Result<(), Status> {
    let class = class_of(stores, attributes, object).await?;
    let pod = body_mut::<Pod>(object)?;
    fill(pod, class.as_deref()).map_err(|why| forbidden(attributes, why))
}

/// Rejects an overhead that differs from the class.
pub async fn validate(stores: &Stores, attributes: &AdmissionAttributes, object: &Owned) -> Result<(), Status> {
    let class = class_of(stores, attributes, object).await?;
    let pod = body::<Pod>(object)?;
    check(pod, class.as_deref()).map_err(|why| forbidden(attributes, why))
}

async fn class_of(
    stores: &Stores,
    attributes: &AdmissionAttributes,
    object: &Owned,
) -> Result<Option<Arc<RuntimeClass>>, Status> {
    let pod = body::<Pod>(object)?;
    let Some(name) = &pod.spec.runtime_class_name else { return Ok(None) };
    let found = find::<RuntimeClass>(stores, attributes, CLASSES, ("", name)).await?;
    let why = || forbidden(attributes, format!("pod rejected: RuntimeClass {name:?} not found"));
    found.ok_or_else(why).map(Some)
}

/// How a pod conflicts with its runtime class.
#[derive(Debug, thiserror::Error)]
enum Conflict {
    #[error("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")]
    OtherOverhead,
    #[error("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")]
    NoOverhead,
    #[error("conflict: runtimeClass.scheduling.nodeSelector[{key}] = {wanted}; pod.spec.nodeSelector[{key}] = {own}")]
    NodeSelector { key: String, wanted: String, own: String },
}

fn fill(pod: &mut Pod, class: Option<&RuntimeClass>) -> Result<(), Conflict> {
    if let Some(overhead) = class.and_then(|class| class.overhead.as_ref()) {
        if !pod.spec.overhead.is_empty() && pod.spec.overhead != overhead.pod_fixed {
            return Err(Conflict::OtherOverhead);
        }
        pod.spec.overhead.clone_from(&overhead.pod_fixed);
    }
    let Some(scheduling) = class.and_then(|class| class.scheduling.clone()) else { return Ok(()) };
    for (key, value) in scheduling.node_selector {
        let own = pod.spec.node_selector.entry(key.clone()).or_insert_with(|| value.clone());
        if *own != value {
            return Err(Conflict::NodeSelector { own: own.clone(), key, wanted: value });
        }
    }
    pod.spec.tolerations = merged(std::mem::take(&mut pod.spec.tolerations), scheduling.tolerations);
    Ok(())
}

fn check(pod: &Pod, class: Option<&RuntimeClass>) -> Result<(), Conflict> {
    match class.and_then(|class| class.overhead.as_ref()) {
        Some(overhead) if overhead.pod_fixed != pod.spec.overhead => Err(Conflict::OtherOverhead),
        None if !pod.spec.overhead.is_empty() => Err(Conflict::NoOverhead),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
