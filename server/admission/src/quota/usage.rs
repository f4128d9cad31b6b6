//! Usage of objects (upstream: `quota/v1/evaluator/core` and the generic object count evaluator).

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use endpoints::{AdmissionAttributes, Operation};
use generated::core::v1::{
    Container, ContainerStatus, PersistentVolumeClaim, Pod, PodSpec, Service, container_restart_policy,
    pod_condition_type, pod_phase, resource_name, service_type,
};
use generated::resource::v1::{ResourceClaim, device_allocation_mode};
use kubernetes::core::{pod_limits, pod_requests};
use machinery::reflect::Owned;
use machinery::scalar::Quantity;

use super::scopes::is_terminating;
use super::{QuotaViolation, Resources};

/// Core resources that are also counted under their bare plural.
const PLAIN: [&str; 7] =
    ["configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas", "secrets", "services"];
/// Container resources that are also counted as requests under their bare name.
const COMPUTE: [&str; 3] = [resource_name::CPU, resource_name::MEMORY, resource_name::EPHEMERAL_STORAGE];
const PODS: (&str, &str) = ("", "pods");
const SERVICES: (&str, &str) = ("", "services");
const NAMESPACES: (&str, &str) = ("", "namespaces");
const VOLUME_CLAIMS: (&str, &str) = ("", "persistentvolumeclaims");
const RESOURCE_CLAIMS: (&str, &str) = ("resource.k8s.io", "resourceclaims");
/// Suffix of quota resources for the devices of a class (`ResourceClaimsPerClass`).
const DEVICES_OF_CLASS: &str = ".deviceclass.resource.k8s.io/devices";
/// Device count of a claim with the allocation mode `All` (`AllocationResultsMaxSize`).
const MAX_DEVICES: i64 = 32;
const CLASS_INFIX: &str = ".storageclass.storage.k8s.io/";
/// Resources that each container must specify when a quota counts them.
const MUST_SPECIFY: [&str; 6] = [
    resource_name::CPU,
    resource_name::MEMORY,
    resource_name::REQUESTS_CPU,
    resource_name::REQUESTS_MEMORY,
    resource_name::LIMITS_CPU,
    resource_name::LIMITS_MEMORY,
];

/// Resources that quotas ignore, because they are not stored or are numerous
/// (`DefaultIgnoredResources`).
const IGNORED: [(&str, &str); 10] = [
    ("", "bindings"),
    ("", "componentstatuses"),
    ("authentication.k8s.io", "tokenreviews"),
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
    ("", "events"),
    ("events.k8s.io", "events"),
];

/// Whether a request can change quota usage (`Evaluator.Handles`).
pub fn is_counted(attributes: &AdmissionAttributes, object: &Owned, old: Option<&Owned>) -> bool {
    let resource = (attributes.group, attributes.plural);
    if IGNORED.contains(&resource) || resource == NAMESPACES {
        return false;
    }
    match (attributes.operation, attributes.subresource.as_str()) {
        (Operation::Create, "") => true,
        (Operation::Update, "resize") => resource == PODS,
        // A volume expansion allocates storage in the status (`RequiresQuotaReplenish`).
        (Operation::Update, "status") => resource == VOLUME_CLAIMS,
        (Operation::Update, "") => match resource {
            SERVICES | VOLUME_CLAIMS | RESOURCE_CLAIMS => true,
            PODS => changes_scope(object, old),
            _ => false,
        },
        _ => false,
    }
}

/// Whether an update moves a pod between the scopes `Terminating` and `NotTerminating`.
fn changes_scope(object: &Owned, old: Option<&Owned>) -> bool {
    let pods = object.downcast_ref::<Pod>().zip(old.and_then(Owned::downcast_ref::<Pod>));
    pods.is_some_and(|(pod, old)| is_terminating(pod) != is_terminating(old))
}

fn count_name((group, plural): (&str, &str)) -> String {
    match group {
        "" => format!("count/{plural}"),
        group => format!("count/{plural}.{group}"),
    }
}

/// Returns the resources of a quota that count objects of a request's resource.
pub fn matching<'q>(
    attributes: &AdmissionAttributes,
    hard: &'q BTreeMap<String, Quantity>,
) -> impl Iterator<Item = &'q str> {
    counted((attributes.group, attributes.plural), hard)
}

/// Returns the names of `hard` that count objects of a resource, by its group and plural
/// (`Evaluator.MatchingResources`).
pub fn counted<'q>(
    resource: (&'q str, &'q str),
    hard: &'q BTreeMap<String, Quantity>,
) -> impl Iterator<Item = &'q str> {
    let (count, core, plural) = (count_name(resource), resource.0.is_empty(), resource.1);
    let claims_devices = resource == RESOURCE_CLAIMS;
    hard.keys().map(String::as_str).filter(move |name| {
        *name == count
            || (claims_devices && name.ends_with(DEVICES_OF_CLASS))
            || (core
                && match plural {
                    "pods" => *name == "pods" || is_of_pods(name),
                    "services" => matches!(
                        *name,
                        "services" | resource_name::SERVICES_NODEPORTS | resource_name::SERVICES_LOADBALANCERS
                    ),
                    "persistentvolumeclaims" => {
                        matches!(*name, "persistentvolumeclaims" | resource_name::REQUESTS_STORAGE)
                            || name.contains(CLASS_INFIX)
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

/// Requires that containers specify the resources that a quota counts.
///
/// # Errors
/// The resources that containers do not specify.
pub fn constraints(required: &[&str], object: &Owned) -> Result<(), QuotaViolation> {
    let Some(pod) = object.downcast_ref::<Pod>() else { return Ok(()) };
    let whole = pod.spec.resources.as_deref();
    if whole.is_some_and(|whole| whole.requests.keys().chain(whole.limits.keys()).any(|name| is_pod_level(name))) {
        return Ok(());
    }
    let mut missing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for container in pod.spec.containers.iter().chain(&pod.spec.init_containers) {
        for resource in required.iter().filter(|name| MUST_SPECIFY.contains(name)) {
            if !specifies(&container.resources.requests, &container.resources.limits, resource) {
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
    Err(QuotaViolation::Unspecified { missing: missing.iter_mut().map(line).collect() })
}

fn specifies(requests: &Resources, limits: &Resources, resource: &str) -> bool {
    match resource.split_once('.') {
        Some(("limits", name)) => limits.contains_key(name),
        Some(("requests", name)) => requests.contains_key(name),
        _ => requests.contains_key(resource),
    }
}

/// Returns the usage beyond what is already counted; positive quantities only
/// (`SubtractWithNonNegativeResult`).
pub fn increase(wanted: &Resources, counted: Option<&Resources>) -> Resources {
    let mut delta = wanted.clone();
    for (name, before) in counted.into_iter().flatten() {
        if let Some(now) = delta.get_mut(name) {
            now.sub(before);
        }
    }
    delta.retain(|_, quantity| quantity.sign().is_gt());
    delta
}

/// Returns the usage of the object of a request.
pub fn usage(attributes: &AdmissionAttributes, object: &Owned) -> Resources {
    usage_of((attributes.group, attributes.plural), object)
}

/// Returns the usage of an object of a resource, by its group and plural (`Evaluator.Usage`).
pub fn usage_of(resource: (&str, &str), object: &Owned) -> Resources {
    let mut out = Resources::new();
    put(&mut out, count_name(resource), one());
    if resource.0.is_empty() && PLAIN.contains(&resource.1) {
        put(&mut out, resource.1.to_owned(), one());
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
    if let Some(claim) = object.downcast_ref::<ResourceClaim>() {
        of_resource_claim(claim, &mut out);
    }
    out
}

fn one() -> Quantity {
    number(1)
}

fn number(value: impl std::fmt::Display) -> Quantity {
    Quantity::parse(&value.to_string()).unwrap_or_default()
}

fn put(out: &mut Resources, name: String, quantity: Quantity) {
    out.insert(name, quantity);
}

/// Adds the usage of a pod. Terminated pods count as objects only.
fn of_pod(pod: &Pod, out: &mut Resources) {
    if matches!(pod.status.phase.as_str(), pod_phase::FAILED | pod_phase::SUCCEEDED) {
        out.remove("pods");
        return;
    }
    let spec = with_status(pod);
    for (name, quantity) in pod_requests(&spec) {
        if COMPUTE.contains(&name.as_str()) || name.starts_with("hugepages-") {
            put(out, name.clone(), quantity.clone());
        }
        put(out, format!("requests.{name}"), quantity);
    }
    for (name, quantity) in pod_limits(&spec) {
        if COMPUTE.contains(&name.as_str()) {
            put(out, format!("limits.{name}"), quantity);
        }
    }
}

/// Returns the pod spec with the actual resources of containers during a resize
/// (`UseStatusResources`).
fn with_status(pod: &Pod) -> Cow<'_, PodSpec> {
    let statuses = pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses);
    let statuses: HashMap<&str, &ContainerStatus> =
        statuses.filter(|status| status.resources.is_some()).map(|status| (status.name.as_str(), status)).collect();
    if statuses.is_empty() {
        return Cow::Borrowed(&pod.spec);
    }
    let pending =
        pod.status.conditions.iter().find(|condition| condition.r#type == pod_condition_type::POD_RESIZE_PENDING);
    let is_infeasible = pending.is_some_and(|condition| condition.reason == "Infeasible");
    let mut spec = pod.spec.clone();
    let sidecars = spec.init_containers.iter_mut().filter(|container| is_sidecar(container));
    for container in spec.containers.iter_mut().chain(sidecars) {
        let Some(status) = statuses.get(container.name.as_str()) else { continue };
        let Some(actual) = status.resources.as_deref() else { continue };
        let resources = &mut container.resources;
        if is_infeasible {
            resources.requests.clear();
            resources.limits.clear();
        }
        raise(&mut resources.requests, &actual.requests);
        raise(&mut resources.requests, &status.allocated_resources);
        raise(&mut resources.limits, &actual.limits);
    }
    Cow::Owned(spec)
}

fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some(container_restart_policy::ALWAYS)
}

fn raise(into: &mut Resources, from: &Resources) {
    for (name, quantity) in from {
        if into.get(name).is_none_or(|had| quantity > had) {
            into.insert(name.clone(), quantity.clone());
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
    put(out, resource_name::SERVICES_NODEPORTS.into(), number(node_ports));
    put(out, resource_name::SERVICES_LOADBALANCERS.into(), number(usize::from(balanced)));
}

fn of_claim(claim: &PersistentVolumeClaim, out: &mut Resources) {
    let annotated = claim.metadata.annotations.get("volume.beta.kubernetes.io/storage-class");
    let class = annotated.or(claim.spec.storage_class_name.as_ref()).filter(|class| !class.is_empty());
    if let Some(class) = class {
        put(out, format!("{class}{CLASS_INFIX}persistentvolumeclaims"), one());
    }
    if let Some(storage) = storage_of(claim) {
        put(out, resource_name::REQUESTS_STORAGE.into(), storage.clone());
        if let Some(class) = class {
            put(out, format!("{class}{CLASS_INFIX}requests.storage"), storage);
        }
    }
}

/// Returns the storage that a claim requests or, if larger, that an expansion has allocated, in
/// whole bytes.
fn storage_of(claim: &PersistentVolumeClaim) -> Option<Quantity> {
    let mut wanted = claim.spec.resources.requests.get(resource_name::STORAGE)?.clone();
    if let Some(allocated) = claim.status.allocated_resources.get(resource_name::STORAGE).filter(|size| **size > wanted)
    {
        wanted = allocated.clone();
    }
    wanted.round_up(0);
    Some(wanted)
}

/// Adds the requested devices of a claim by class. Of alternatives, the maximum per class counts.
fn of_resource_claim(claim: &ResourceClaim, out: &mut Resources) {
    for request in &claim.spec.devices.requests {
        let mut wanted: BTreeMap<&str, i64> = BTreeMap::new();
        if let Some(exactly) = request.exactly.as_ref().filter(|_| request.first_available.is_empty()) {
            wanted.insert(&exactly.device_class_name, devices(&exactly.allocation_mode, exactly.count));
        }
        for alternative in &request.first_available {
            let most = wanted.entry(&alternative.device_class_name).or_default();
            *most = (*most).max(devices(&alternative.allocation_mode, alternative.count));
        }
        for (class, count) in wanted {
            out.entry(format!("{class}{DEVICES_OF_CLASS}")).or_default().add(&number(count));
        }
    }
}

fn devices(allocation_mode: &str, count: i64) -> i64 {
    match allocation_mode {
        device_allocation_mode::EXACT_COUNT => count,
        device_allocation_mode::ALL => MAX_DEVICES,
        _ => 0,
    }
}

/// Whether a resource can be set at pod level (`IsPodLevelResourcesSet`).
fn is_pod_level(name: &str) -> bool {
    matches!(name, resource_name::CPU | resource_name::MEMORY) || name.starts_with("hugepages-")
}

#[cfg(test)]
mod tests;
