//! Plugins for updates of pods that are bound to a node: `PodResizeValidator`,
//! `NodeDeclaredFeatureValidator`.

use std::collections::BTreeMap;
use std::sync::Arc;

use endpoints::{AdmissionAttributes, Operation};
use generated::core::v1::{
    Container, Node, Pod, ResourceRequirements, container_restart_policy, os_name, resource_name,
};
use kubernetes::core::pod_requests;
use machinery::features;
use machinery::reflect::Owned;
use machinery::scalar::Quantity;
use machinery::status::{Cause, Status};
use registry::Stores;

use super::forbidden;
use super::lookup::find;

const OS: &str = "kubernetes.io/os";

/// Rejects resizes on nodes that do not run Linux and resizes beyond the node's allocatable
/// resources.
pub async fn check_resize(
    stores: &Stores,
    attributes: &AdmissionAttributes,
    object: &Owned,
    old: Option<&Owned>,
) -> Result<(), Status> {
    let Some((pod, _)) = changed(attributes, &["resize"], object, old) else { return Ok(()) };
    let node = node_of(stores, attributes, pod).await?;
    let refused = |why: String, reason: &str| {
        let mut status = forbidden(attributes, why);
        let cause = Cause { reason: reason.into(), ..Cause::default() };
        status.details.get_or_insert_default().causes.push(cause);
        Err(status)
    };
    if let Some(os) = node.metadata.labels.get(OS).filter(|os| *os != os_name::LINUX) {
        let why = format!("pod resize is only supported on linux nodes, node {:?} is {os:?}", node.metadata.name);
        return refused(why, "UnsupportedPlatform");
    }
    let requests = pod_requests(&pod.spec);
    let too_much = |name: &str, shown: fn(&Quantity) -> i64| {
        let of = |all: &BTreeMap<String, Quantity>| all.get(name).cloned().unwrap_or_default();
        let (requested, allocatable) = (of(&requests), of(&node.status.allocatable));
        let (requested_value, allocatable_value) = (shown(&requested), shown(&allocatable));
        (requested > allocatable)
            .then(|| format!("{name}, requested: {requested_value}, allocatable: {allocatable_value}"))
    };
    let wrong = [too_much(resource_name::CPU, Quantity::milli_value), too_much(resource_name::MEMORY, Quantity::value)];
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    if wrong.is_empty() {
        return Ok(());
    }
    refused(format!("node didn't have enough allocatable resources: {}", wrong.join("; ")), "NodeCapacity")
}

/// Rejects updates that need features which the pod's node does not declare.
pub async fn check_features(
    stores: &Stores,
    attributes: &AdmissionAttributes,
    object: &Owned,
    old: Option<&Owned>,
) -> Result<(), Status> {
    let Some((pod, old)) = changed(attributes, &["", "resize"], object, old) else { return Ok(()) };
    let needed = needed_features(pod, old);
    if needed.is_empty() {
        return Ok(());
    }
    let node = node_of(stores, attributes, pod).await?;
    let missing: Vec<&str> =
        needed.into_iter().filter(|name| !node.status.declared_features.iter().any(|known| known == name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let (missing, node) = (missing.join(", "), &node.metadata.name);
    let why = format!("pod update requires features {missing} which are not available on node {node:?}");
    Err(forbidden(attributes, why))
}

/// Returns the new and the old pod if it is bound to a node and one of these subresources changes
/// its spec.
fn changed<'o>(
    attributes: &AdmissionAttributes,
    subresources: &[&str],
    object: &'o Owned,
    old: Option<&'o Owned>,
) -> Option<(&'o Pod, &'o Pod)> {
    if attributes.operation != Operation::Update || !subresources.contains(&attributes.subresource.as_str()) {
        return None;
    }
    let (pod, old) = (object.downcast_ref::<Pod>()?, old?.downcast_ref::<Pod>()?);
    let changes = pod.metadata.generation != old.metadata.generation;
    (changes && !pod.spec.node_name.is_empty()).then_some((pod, old))
}

async fn node_of(stores: &Stores, attributes: &AdmissionAttributes, pod: &Pod) -> Result<Arc<Node>, Status> {
    let name = &pod.spec.node_name;
    let node = find(stores, attributes, ("", "nodes"), ("", name)).await?;
    node.ok_or_else(|| forbidden(attributes, format!("node {name:?} not found")))
}

/// Returns the node features that an update requires (upstream:
/// `nodedeclaredfeatures.Framework.InferForPodUpdate`).
fn needed_features(pod: &Pod, old: &Pod) -> Vec<&'static str> {
    let mut needed = Vec::new();
    if !is_same(pod.spec.resources.as_deref(), old.spec.resources.as_deref()) {
        needed.push(features::InPlacePodLevelResourcesVerticalScaling);
    }
    let mut containers = pod.spec.init_containers.iter().zip(&old.spec.init_containers);
    let grows = |new: &Container, old: &Container| !is_same(Some(&new.resources), Some(&old.resources));
    if containers.any(|(new, old)| !is_sidecar(old) && grows(new, old)) {
        needed.push(features::InPlacePodVerticalScalingInitContainers);
    }
    needed
}

fn is_same(new: Option<&ResourceRequirements>, old: Option<&ResourceRequirements>) -> bool {
    match (new, old) {
        (Some(new), Some(old)) => new.requests == old.requests && new.limits == old.limits,
        (new, old) => new.is_none() && old.is_none(),
    }
}

fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some(container_restart_policy::ALWAYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infers_node_features_of_an_update() {
        let quantity = |text: &str| text.parse::<Quantity>().unwrap();
        let resources = |cpu: &str| ResourceRequirements {
            requests: [("cpu".to_owned(), quantity(cpu))].into(),
            ..ResourceRequirements::default()
        };
        let pod = |whole: &str, init: &str| {
            let mut pod = Pod::default();
            pod.spec.resources = Some(Box::new(resources(whole)));
            pod.spec.init_containers = vec![Container { resources: resources(init), ..Container::default() }];
            pod
        };
        let check = |new: Pod, expect: &[&str]| assert_eq!(needed_features(&new, &pod("1", "1")), expect);
        check(pod("1000m", "1"), &[]);
        check(pod("2", "1"), &[features::InPlacePodLevelResourcesVerticalScaling]);
        check(pod("1", "2"), &[features::InPlacePodVerticalScalingInitContainers]);
    }
}
