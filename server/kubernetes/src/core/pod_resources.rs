//! Pod-level requests and limits (KEP-2837), computed from those of the containers.

use std::collections::BTreeMap;

use machinery::scalar::Quantity;

use generated::core::v1::{Container, PodSpec, ResourceRequirements, container_restart_policy, resource_name};

type ResourceList = BTreeMap<String, Quantity>;

/// Adds the entries that are missing in `into`.
pub fn fill(into: &mut ResourceList, from: &ResourceList) {
    for (name, quantity) in from {
        if !into.contains_key(name) {
            into.insert(name.clone(), quantity.clone());
        }
    }
}

/// Mirrors `defaultHugePagePodLimits` and `defaultPodRequests`; the feature gate PodLevelResources is on by default.
pub fn default_pod_level(spec: &mut PodSpec) {
    let Some(mut resources) = spec.resources.take() else { return };
    if !resources.limits.is_empty() || !resources.requests.is_empty() {
        let mut limits = aggregate(spec, |r| &r.limits);
        limits.retain(|name, _| is_huge_pages(name) && !resources.requests.contains_key(name));
        fill(&mut resources.limits, &limits);
    }
    if !resources.limits.is_empty() {
        let mut requests = aggregate(spec, |r| &r.requests);
        requests.retain(|name, _| is_pod_level(name) && !is_huge_pages(name));
        fill(&mut resources.requests, &requests);
        let ResourceRequirements { limits, requests, .. } = &mut *resources;
        let limits = limits.iter().filter(|(name, _)| is_pod_level(name));
        fill(requests, &limits.map(|(name, quantity)| (name.clone(), quantity.clone())).collect());
    }
    spec.resources = Some(resources);
}

/// Resources that all containers need at the same time: the sum of those that run concurrently, or more
/// if an init container needs more while it runs (upstream `AggregateContainerRequests`,
/// `AggregateContainerLimits`).
pub(super) fn aggregate(spec: &PodSpec, of: fn(&ResourceRequirements) -> &ResourceList) -> ResourceList {
    let mut total = ResourceList::new();
    for container in &spec.containers {
        add(&mut total, of(&container.resources));
    }
    let mut sidecars = ResourceList::new();
    let mut most = ResourceList::new();
    for container in &spec.init_containers {
        let own = of(&container.resources);
        if is_sidecar(container) {
            add(&mut total, own);
            add(&mut sidecars, own);
            raise(&mut most, &sidecars);
        } else {
            let mut together = own.clone();
            add(&mut together, &sidecars);
            raise(&mut most, &together);
        }
    }
    raise(&mut total, &most);
    total
}

/// Requests of a pod: its own requests or those of its containers, and its overhead (upstream
/// `PodRequests`).
pub fn pod_requests(spec: &PodSpec) -> ResourceList {
    whole(spec, |r| &r.requests, |_, _| true)
}

/// Limits of a pod (upstream `PodLimits`). Overhead increases existing limits only.
pub fn pod_limits(spec: &PodSpec) -> ResourceList {
    whole(spec, |r| &r.limits, |limits, name| limits.contains_key(name))
}

fn whole(
    spec: &PodSpec,
    of: fn(&ResourceRequirements) -> &ResourceList,
    takes_overhead: fn(&ResourceList, &str) -> bool,
) -> ResourceList {
    let mut total = aggregate(spec, of);
    if let Some(own) = &spec.resources {
        let own = of(own).iter().filter(|(name, _)| is_pod_level(name));
        total.extend(own.map(|(name, quantity)| (name.clone(), quantity.clone())));
    }
    let mut overhead = spec.overhead.clone();
    overhead.retain(|name, _| takes_overhead(&total, name));
    add(&mut total, &overhead);
    total
}

fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some(container_restart_policy::ALWAYS)
}

fn add(into: &mut ResourceList, from: &ResourceList) {
    for (name, quantity) in from {
        match into.get_mut(name) {
            Some(sum) => sum.add(quantity),
            None => drop(into.insert(name.clone(), quantity.clone())),
        }
    }
}

fn raise(into: &mut ResourceList, from: &ResourceList) {
    for (name, quantity) in from {
        if into.get(name).is_none_or(|had| quantity > had) {
            into.insert(name.clone(), quantity.clone());
        }
    }
}

/// Whether the resource is supported at pod level (upstream `IsSupportedPodLevelResource`).
fn is_pod_level(name: &str) -> bool {
    matches!(name, resource_name::CPU | resource_name::MEMORY) || is_huge_pages(name)
}

fn is_huge_pages(name: &str) -> bool {
    name.starts_with("hugepages-")
}
