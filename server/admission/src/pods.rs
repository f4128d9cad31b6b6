//! Plugins for pods: `LimitPodHardAntiAffinityTopology`, `PodNodeSelector`,
//! `ExtendedResourceToleration`, `PodTopologyLabels`.

use std::collections::{BTreeMap, BTreeSet};

use endpoints::{AdmissionAttributes, Operation};
use generated::core::v1::{Binding, Namespace, Node, Pod, PodSpec, Toleration, taint_effect, toleration_operator};
use machinery::format::{is_label_value, is_qualified_name};
use machinery::reflect::Owned;
use machinery::status::Status;
use registry::Stores;
use serde_json::Value as Json;

use super::lookup::find;
use super::{body, body_mut, forbidden};

const HOSTNAME: &str = "kubernetes.io/hostname";
/// The configuration key of the default node selector, for namespaces without the annotation.
const CLUSTER_DEFAULT: &str = "clusterDefaultNodeSelector";
const NODE_SELECTOR: &str = "scheduler.alpha.kubernetes.io/node-selector";
const TOPOLOGY: [&str; 2] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/// Rejects required pod anti-affinity with a topology key other than the hostname.
pub fn check_anti_affinity(attributes: &AdmissionAttributes, object: &Owned) -> Result<(), Status> {
    let pod = body::<Pod>(object)?;
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

/// Adds the node selector of the namespace to a new pod. `configured` contains selectors by
/// namespace.
pub async fn node_selector(
    stores: &Stores,
    configured: &Json,
    attributes: &AdmissionAttributes,
    object: &mut Owned,
) -> Result<(), Status> {
    let required = namespace_selector(stores, configured, attributes).await?;
    let pod = body_mut::<Pod>(object)?;
    check_selector(&pod.spec.node_selector, &required, configured, &attributes.namespace)
        .map_err(|why| forbidden(attributes, why))?;
    pod.spec.node_selector.extend(required);
    Ok(())
}

/// Rejects a new pod with a node selector that conflicts with its namespace's selector or
/// whitelist.
pub async fn check_node_selector(
    stores: &Stores,
    configured: &Json,
    attributes: &AdmissionAttributes,
    object: &Owned,
) -> Result<(), Status> {
    let required = namespace_selector(stores, configured, attributes).await?;
    let pod = body::<Pod>(object)?;
    check_selector(&pod.spec.node_selector, &required, configured, &attributes.namespace)
        .map_err(|why| forbidden(attributes, why))
}

type Selector = BTreeMap<String, String>;

/// Returns the node selector of a namespace (`getNamespaceNodeSelectorMap`).
async fn namespace_selector(
    stores: &Stores,
    configured: &Json,
    attributes: &AdmissionAttributes,
) -> Result<Selector, Status> {
    let name = &attributes.namespace;
    let found = find::<Namespace>(stores, attributes, ("", "namespaces"), ("", name)).await?;
    let namespace = found.ok_or_else(|| Status::internal(format!("namespace {name} does not exist")))?;
    let text = match namespace.metadata.annotations.get(NODE_SELECTOR) {
        Some(annotation) => annotation,
        None => configured[CLUSTER_DEFAULT].as_str().unwrap_or_default(),
    };
    parse_selector(text)
}

/// Why the node selector of a pod is not allowed in its namespace.
#[derive(Debug, thiserror::Error)]
enum SelectorConflict {
    #[error("pod node label selector conflicts with its namespace node label selector")]
    Namespace,
    #[error("pod node label selector labels conflict with its namespace whitelist")]
    Whitelist,
}

/// Checks the merged node selector of the pod and its namespace.
fn check_selector(
    of_pod: &Selector,
    required: &Selector,
    configured: &Json,
    namespace: &str,
) -> Result<(), SelectorConflict> {
    if required.iter().any(|(key, value)| of_pod.get(key).is_some_and(|own| own != value)) {
        return Err(SelectorConflict::Namespace);
    }
    let whitelist = selector(configured[namespace].as_str().unwrap_or_default()).ok_or(SelectorConflict::Whitelist)?;
    let is_listed = |(key, value): (&String, &String)| whitelist.get(key) == Some(value);
    match whitelist.is_empty() || of_pod.iter().chain(required).all(is_listed) {
        true => Ok(()),
        false => Err(SelectorConflict::Whitelist),
    }
}

fn parse_selector(text: &str) -> Result<Selector, Status> {
    selector(text).ok_or_else(|| Status::internal(format!("invalid selector: {text:?}")))
}

/// Parses `a=b,c=d` as a map (`labels.ConvertSelectorToLabelsMap`).
fn selector(text: &str) -> Option<Selector> {
    if text.is_empty() {
        return Some(Selector::new());
    }
    text.split(',').map(pair).collect()
}

fn pair(text: &str) -> Option<(String, String)> {
    let (key, value) = text.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    let is_valid = is_qualified_name(key).is_empty() && is_label_value(value).is_empty();
    is_valid.then(|| (key.to_owned(), value.to_owned()))
}

/// Tolerates the taints of nodes that are dedicated to the extended resources that a pod requests.
pub fn tolerate_extended_resources(object: &mut Owned) {
    let Some(pod) = object.downcast_mut::<Pod>() else { return };
    let added = extended_resources(&pod.spec).into_iter().map(|key| {
        let toleration = Toleration {
            key,
            operator: toleration_operator::EXISTS.into(),
            effect: taint_effect::NO_SCHEDULE.into(),
            ..Toleration::default()
        };
        (toleration.key.clone(), toleration)
    });
    let mut added: BTreeMap<String, Toleration> = added.collect();
    // A toleration for the same taint is replaced (`AddOrUpdateTolerationInPod`).
    for own in &mut pod.spec.tolerations {
        let is_same = own.operator == toleration_operator::EXISTS
            && own.effect == taint_effect::NO_SCHEDULE
            && own.value.is_empty();
        if let Some(toleration) = is_same.then(|| added.remove(&own.key)).flatten() {
            *own = toleration;
        }
    }
    pod.spec.tolerations.extend(added.into_values());
}

fn extended_resources(spec: &PodSpec) -> BTreeSet<String> {
    let containers = spec.containers.iter().chain(&spec.init_containers);
    let requested = containers.flat_map(|container: &_| container.resources.requests.keys());
    requested.filter(|name| is_extended(name)).cloned().collect()
}

/// Whether a resource is outside Kubernetes' domains (`IsExtendedResourceName`).
fn is_extended(name: &str) -> bool {
    let is_native = !name.contains('/') || name.contains("kubernetes.io/");
    !is_native && !name.starts_with("requests.") && is_qualified_name(&format!("requests.{name}")).is_empty()
}

/// Copies the topology labels of a node to the pod that is bound to it.
pub async fn topology_labels(
    stores: &Stores,
    attributes: &AdmissionAttributes,
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
    let Some(node) = find::<Node>(stores, attributes, ("", "nodes"), ("", &node)).await? else { return Ok(()) };
    let labels = node.metadata.labels.iter().filter(|(key, _)| TOPOLOGY.contains(&key.as_str()));
    if let Some(meta) = registry::meta_mut(object) {
        meta.labels.extend(labels.map(|(key, value)| (key.clone(), value.clone())));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
