//! What objects count for (upstream: `quota/v1/evaluator/core` and the generic evaluator of object counts).

use std::collections::BTreeMap;

use endpoints::{Attributes, Operation};
use generated::core::v1::{Container, PersistentVolumeClaim, Pod, Service, service_type};
use generated::hatches::core::{pod_limits, pod_requests};
use machinery::reflect::Owned;
use machinery::scalar::Quantity;

use super::Resources;

/// Core resources that are also counted under their plural alone.
const PLAIN: [&str; 7] =
    ["configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas", "secrets", "services"];
/// Resources of containers that are counted under their own name as requests, too.
const COMPUTE: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
const CLASS_INFIX: &str = ".storageclass.storage.k8s.io/";
/// What every container has to say when a quota counts it.
const SAID: [&str; 6] = ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];

fn is_core(attributes: &Attributes, plural: &str) -> bool {
    attributes.kind.group.is_empty() && attributes.plural == plural
}

/// Whether a request can change what is used.
pub fn is_counted(attributes: &Attributes) -> bool {
    let resized = is_core(attributes, "pods") && attributes.subresource == "resize";
    match attributes.operation {
        Operation::Create => attributes.subresource.is_empty(),
        Operation::Update if resized => true,
        Operation::Update => {
            let grows = is_core(attributes, "services") || is_core(attributes, "persistentvolumeclaims");
            grows && attributes.subresource.is_empty()
        }
        _ => false,
    }
}

fn count_name(attributes: &Attributes) -> String {
    match attributes.kind.group {
        "" => format!("count/{}", attributes.plural),
        group => format!("count/{}.{group}", attributes.plural),
    }
}

/// The resources of a quota that a kind counts for.
pub fn matching<'q>(attributes: &Attributes, hard: &'q BTreeMap<String, Quantity>) -> impl Iterator<Item = &'q str> {
    let (count, core, plural) = (count_name(attributes), attributes.kind.group.is_empty(), attributes.plural);
    hard.keys().map(String::as_str).filter(move |name| {
        *name == count
            || (core
                && match plural {
                    "pods" => *name == "pods" || is_of_pods(name),
                    "services" => matches!(*name, "services" | "services.nodeports" | "services.loadbalancers"),
                    "persistentvolumeclaims" => {
                        matches!(*name, "persistentvolumeclaims" | "requests.storage") || name.contains(CLASS_INFIX)
                    }
                    other => PLAIN.contains(&other) && *name == other,
                })
    })
}

fn is_of_pods(name: &str) -> bool {
    let inner = name.strip_prefix("requests.").or_else(|| name.strip_prefix("limits."));
    COMPUTE.contains(&name)
        || name.starts_with("hugepages-")
        || inner.is_some_and(|inner| COMPUTE.contains(&inner) || inner.starts_with("hugepages-"))
        || (inner.is_some_and(|inner| inner.contains('/')) && name.starts_with("requests."))
}

/// What has to be said when it is counted.
pub fn constraints(required: &[&str], object: &Owned) -> Result<(), String> {
    let Some(pod) = object.downcast_ref::<Pod>() else { return Ok(()) };
    let mut missing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let whole = pod.spec.resources.as_deref();
    for container in pod.spec.containers.iter().chain(&pod.spec.init_containers) {
        for resource in required.iter().filter(|name| SAID.contains(name)) {
            let of_pod = whole.is_some_and(|whole| says(&whole.requests, &whole.limits, resource));
            if !of_pod && !container_says(container, resource) {
                missing.entry(resource).or_default().push(&container.name);
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let line = |(resource, names): (&&str, &mut Vec<&str>)| {
        names.sort_unstable();
        format!("{resource} for: {}", names.join(","))
    };
    Err(format!("must specify {}", missing.iter_mut().map(line).collect::<Vec<_>>().join("; ")))
}

fn container_says(container: &Container, resource: &str) -> bool {
    says(&container.resources.requests, &container.resources.limits, resource)
}

fn says(requests: &Resources, limits: &Resources, resource: &str) -> bool {
    match resource.split_once('.') {
        Some(("limits", name)) => limits.contains_key(name),
        Some(("requests", name)) => requests.contains_key(name),
        _ => requests.contains_key(resource),
    }
}

/// What is asked for beyond what the old object has; only what is more than nothing.
pub fn delta(attributes: &Attributes, object: &Owned, old: Option<&Owned>) -> Resources {
    let mut delta = usage(attributes, object);
    for (name, before) in old.map(|old| usage(attributes, old)).unwrap_or_default() {
        if let Some(now) = delta.get_mut(&name) {
            now.sub(&before);
        }
    }
    delta.retain(|_, quantity| quantity.sign().is_gt());
    delta
}

fn usage(attributes: &Attributes, object: &Owned) -> Resources {
    let mut out = Resources::new();
    put(&mut out, count_name(attributes), one());
    if attributes.kind.group.is_empty() && PLAIN.contains(&attributes.plural) {
        put(&mut out, attributes.plural.to_owned(), one());
    }
    if let Some(pod) = object.downcast_ref::<Pod>() {
        of_pod(pod, &mut out);
    }
    if let Some(service) = object.downcast_ref::<Service>() {
        of_service(service, &mut out);
    }
    if let Some(claim) = object.downcast_ref::<PersistentVolumeClaim>() {
        of_claim(claim, &mut out);
    }
    out
}

fn one() -> Quantity {
    number(1)
}

fn number(value: usize) -> Quantity {
    Quantity::parse(&value.to_string()).unwrap_or_default()
}

fn put(out: &mut Resources, name: String, quantity: Quantity) {
    out.insert(name, quantity);
}

/// Pods that have ended use nothing but their place.
fn of_pod(pod: &Pod, out: &mut Resources) {
    if matches!(pod.status.phase.as_str(), "Failed" | "Succeeded") {
        out.remove("pods");
        return;
    }
    for (name, quantity) in pod_requests(&pod.spec) {
        if COMPUTE.contains(&name.as_str()) || name.starts_with("hugepages-") {
            put(out, name.clone(), quantity.clone());
        }
        put(out, format!("requests.{name}"), quantity);
    }
    for (name, quantity) in pod_limits(&pod.spec) {
        if COMPUTE.contains(&name.as_str()) {
            put(out, format!("limits.{name}"), quantity);
        }
    }
}

fn of_service(service: &Service, out: &mut Resources) {
    let ports = service.spec.ports.len();
    let balanced = service.spec.r#type == service_type::LOAD_BALANCER;
    let node_ports = match service.spec.r#type.as_str() {
        service_type::NODE_PORT => ports,
        _ if balanced && service.spec.allocate_load_balancer_node_ports != Some(false) => ports,
        _ if balanced => service.spec.ports.iter().filter(|port| port.node_port != 0).count(),
        _ => 0,
    };
    put(out, "services.nodeports".into(), number(node_ports));
    put(out, "services.loadbalancers".into(), number(usize::from(balanced)));
}

fn of_claim(claim: &PersistentVolumeClaim, out: &mut Resources) {
    let annotated = claim.metadata.annotations.get("volume.beta.kubernetes.io/storage-class");
    let class = annotated.or(claim.spec.storage_class_name.as_ref()).filter(|class| !class.is_empty());
    if let Some(class) = class {
        put(out, format!("{class}{CLASS_INFIX}persistentvolumeclaims"), one());
    }
    if let Some(storage) = claim.spec.resources.requests.get("storage") {
        put(out, "requests.storage".into(), storage.clone());
        if let Some(class) = class {
            put(out, format!("{class}{CLASS_INFIX}requests.storage"), storage.clone());
        }
    }
}
