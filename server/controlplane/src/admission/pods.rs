//! Plugins about pods that need nothing but the pod and its namespace: `AlwaysPullImages`, `LimitPodHardAntiAffinityTopology`,
//! `PodNodeSelector`, `ExtendedResourceToleration`, `PodTopologyLabels`.

use std::collections::{BTreeMap, BTreeSet};

use endpoints::{Attributes, Environment, Operation};
use generated::core::v1::{Binding, Namespace, Node, Pod, PodSpec, Toleration, toleration_operator};
use machinery::reflect::Owned;
use machinery::status::Status;
use serde_json::Value as Json;

use super::forbidden;
use super::lookup::find;

const ALWAYS: &str = "Always";
const HOSTNAME: &str = "kubernetes.io/hostname";
/// The key of the configuration for namespaces that say nothing.
const CLUSTER_DEFAULT: &str = "clusterDefaultNodeSelector";
const NODE_SELECTOR: &str = "scheduler.alpha.kubernetes.io/node-selector";
const TOPOLOGY: [&str; 2] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/// Images are pulled each time, so that who may not pull them cannot use those that are there.
pub fn always_pull(object: &mut Owned) {
    let Some(pod) = object.downcast_mut::<Pod>() else { return };
    for container in pod.spec.init_containers.iter_mut().chain(&mut pod.spec.containers) {
        container.image_pull_policy = ALWAYS.into();
    }
    for container in &mut pod.spec.ephemeral_containers {
        container.ephemeral_container_common.image_pull_policy = ALWAYS.into();
    }
    for image in pod.spec.volumes.iter_mut().filter_map(|v| v.volume_source.image.as_mut()) {
        image.pull_policy = ALWAYS.into();
    }
}

/// Pods may keep others off single nodes, not off larger domains.
pub fn check_anti_affinity(attributes: &Attributes, object: &Owned) -> Result<(), Status> {
    let Some(pod) = object.downcast_ref::<Pod>() else { return Ok(()) };
    let anti = pod.spec.affinity.as_ref().and_then(|affinity| affinity.pod_anti_affinity.as_ref());
    let terms = anti.into_iter().flat_map(|anti| &anti.required_during_scheduling_ignored_during_execution);
    match terms.map(|term| &term.topology_key).find(|key| *key != HOSTNAME) {
        Some(key) => Err(forbidden(
            attributes,
            format!(
                "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey {key} but only key {HOSTNAME} is allowed"
            ),
        )),
        None => Ok(()),
    }
}

/// Gives a new pod the node selector of its namespace, and holds it against those that are `configured`, by namespace.
pub async fn node_selector(
    environment: &Environment,
    configured: &Json,
    attributes: &Attributes,
    object: &mut Owned,
) -> Result<(), Status> {
    let Some(pod) = object.downcast_mut::<Pod>().filter(|_| attributes.operation == Operation::Create) else {
        return Ok(());
    };
    let found = find::<Namespace>(environment, attributes, ("", "namespaces"), ("", &attributes.namespace)).await?;
    let of = |key: &str| configured[key].as_str().unwrap_or_default().to_owned();
    let said = found.and_then(|namespace| namespace.metadata.annotations.get(NODE_SELECTOR).cloned());
    let parse = |said: &str| selector(said).ok_or_else(|| Status::internal(format!("invalid selector: {said:?}")));
    let wanted = parse(&said.unwrap_or_else(|| of(CLUSTER_DEFAULT)))?;
    let conflicts = wanted.iter().any(|(key, value)| pod.spec.node_selector.get(key).is_some_and(|own| own != value));
    if conflicts {
        return Err(forbidden(attributes, "pod node label selector conflicts with its namespace node label selector"));
    }
    pod.spec.node_selector.extend(wanted);
    let whitelist = parse(&of(&attributes.namespace))?;
    let listed = |(key, value): (&String, &String)| whitelist.get(key) == Some(value);
    if whitelist.is_empty() || pod.spec.node_selector.iter().all(listed) {
        return Ok(());
    }
    Err(forbidden(attributes, "pod node label selector labels conflict with its namespace whitelist"))
}

/// `a=b,c=d` as a map (`labels.ConvertSelectorToLabelsMap`).
fn selector(text: &str) -> Option<BTreeMap<String, String>> {
    let pair = |pair: &str| pair.split_once('=').map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()));
    text.split(',').filter(|part| !part.trim().is_empty()).map(pair).collect()
}

/// Pods that ask for a device are tolerated on nodes that are kept for it.
pub fn tolerate_extended_resources(object: &mut Owned) {
    let Some(pod) = object.downcast_mut::<Pod>() else { return };
    for key in extended_resources(&pod.spec) {
        let toleration = Toleration { key, operator: toleration_operator::EXISTS.into(), ..Toleration::default() };
        if !pod.spec.tolerations.iter().any(|own| own.key == toleration.key && covers(own)) {
            pod.spec.tolerations.push(toleration);
        }
    }
}

fn covers(own: &Toleration) -> bool {
    own.operator == toleration_operator::EXISTS && own.effect.is_empty() && own.toleration_seconds.is_none()
}

fn extended_resources(spec: &PodSpec) -> BTreeSet<String> {
    let containers = spec.containers.iter().chain(&spec.init_containers);
    let requested = containers.flat_map(|container: &_| container.resources.requests.keys());
    requested.filter(|name| is_extended(name)).cloned().collect()
}

/// A resource of somebody's domain (`IsExtendedResourceName`).
fn is_extended(name: &str) -> bool {
    name.split_once('/').is_some_and(|(domain, _)| !domain.ends_with("kubernetes.io") && !name.starts_with("requests."))
}

/// Copies where a node stands onto the pod that is bound to it.
pub async fn topology_labels(
    environment: &Environment,
    attributes: &Attributes,
    object: &mut Owned,
) -> Result<(), Status> {
    let node = match (object.downcast_ref::<Binding>(), object.downcast_ref::<Pod>()) {
        (Some(binding), _) if ["", "Node"].contains(&binding.target.kind.as_str()) => binding.target.name.clone(),
        (_, Some(pod)) if attributes.subresource.is_empty() => pod.spec.node_name.clone(),
        _ => return Ok(()),
    };
    if attributes.operation != Operation::Create || node.is_empty() {
        return Ok(());
    }
    let Some(node) = find::<Node>(environment, attributes, ("", "nodes"), ("", &node)).await? else { return Ok(()) };
    let labels = node.metadata.labels.iter().filter(|(key, _)| TOPOLOGY.contains(&key.as_str()));
    if let Some(meta) = registry::meta_mut(object) {
        meta.labels.extend(labels.map(|(key, value)| (key.clone(), value.clone())));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use generated::core::v1::Container;
    use machinery::scalar::Quantity;

    #[test]
    fn devices_are_tolerated_once() {
        let mut container = Container::default();
        let names = ["cpu", "example.com/gpu", "kubernetes.io/x"];
        container.resources.requests = names.map(|name| (name.to_owned(), Quantity::default())).into();
        let mut pod = Pod::default();
        pod.spec.containers = vec![container];
        let mut object = Owned::of(pod);
        tolerate_extended_resources(&mut object);
        tolerate_extended_resources(&mut object);
        let pod = object.downcast_ref::<Pod>().unwrap();
        let keys: Vec<&str> = pod.spec.tolerations.iter().map(|t| t.key.as_str()).collect();
        assert_eq!(keys, ["example.com/gpu"]);
    }
}
