//! Hand-written validation of pod statuses from kubelets and the scheduler.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::net::IpAddr;

use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::format::{NameRule, ip};
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::reflect::Ref;

use crate::core::internal::internal_values;
use generated::core::v1::{
    Container, ContainerExtendedResourceRequest, ContainerStatus, Pod, PodExtendedResourceClaimStatus, PodStatus,
    ResourceClaim, ResourceStatus,
};

const UNKNOWN_CONTAINER: &str = "must match the name of an entry in spec.initContainers.name or spec.containers.name";
const UNKNOWN_RESOURCE: &str = "must match the extended resource name of an entry in \
    spec.initContainers.resources.requests or spec.containers.resources.requests";
const UNKNOWN_CLAIM: &str = "must match one of the container's resource claims in a format \
    'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
const UNKNOWN_REQUEST: &str = "must match one of the container's resource requests";
const BOTH_FAMILIES: &str = "may specify no more than one IP for each IP family";

/// Containers by name. Among those of one name, the first one counts.
fn by_name<'c>(containers: impl DoubleEndedIterator<Item = &'c Container>) -> BTreeMap<&'c str, &'c Container> {
    containers.rev().map(|container| (container.name.as_str(), container)).collect()
}

/// `validatePodExtendedResourceClaimStatus`. Hand-written, because resources are looked up in the named
/// container, and a threefold duplicate is reported three times.
pub fn validate_extended_resources(v: &mut Validation<'_>, path: &Path<'_>, pod: &Pod, _: Option<&Pod>) {
    let Some(status) = pod.status.extended_resource_claim_status.as_deref() else { return };
    let path = path.child(json_name!(Pod.status));
    let path = path.child(json_name!(PodStatus.extended_resource_claim_status));
    let (mappings, mut seen) =
        (path.child(json_name!(PodExtendedResourceClaimStatus.request_mappings)), BTreeSet::new());
    let containers = by_name(pod.spec.containers.iter().chain(&pod.spec.init_containers));
    for (index, mapping) in status.request_mappings.iter().enumerate() {
        let entry = mappings.index(index);
        let (container, resource, request) =
            (mapping.container_name.as_str(), mapping.resource_name.as_str(), mapping.request_name.as_str());
        match containers.get(container) {
            None => v.invalid(
                &entry.child(json_name!(ContainerExtendedResourceRequest.container_name)),
                container,
                UNKNOWN_CONTAINER,
            ),
            Some(c) if !c.resources.requests.contains_key(resource) => {
                v.invalid(
                    &entry.child(json_name!(ContainerExtendedResourceRequest.resource_name)),
                    resource,
                    UNKNOWN_RESOURCE,
                );
            }
            Some(_) => {}
        }
        v.name(&path.child(json_name!(ContainerExtendedResourceRequest.request_name)), request, NameRule::Dns1123Label);
        if !seen.insert((container, resource, request)) {
            v.duplicate(&entry.child(json_name!(ContainerExtendedResourceRequest.container_name)), container);
            v.duplicate(&entry.child(json_name!(ContainerExtendedResourceRequest.resource_name)), resource);
            v.duplicate(&entry.child(json_name!(ContainerExtendedResourceRequest.request_name)), request);
        }
    }
}

/// `validatePodIPs`. Hand-written, because addresses are parsed.
pub fn validate_pod_families(v: &mut Validation<'_>, path: &Path<'_>, status: &PodStatus, _: Option<&PodStatus>) {
    let addresses = status.pod_ips.iter().map(|address| address.ip.as_str());
    validate_families(v, &path.child(json_name!(PodStatus.pod_ips)), addresses, || internal_values(&status.pod_ips));
}

/// `validateHostIPs`. Hand-written for the same reason.
pub fn validate_host_families(v: &mut Validation<'_>, path: &Path<'_>, status: &PodStatus, _: Option<&PodStatus>) {
    let addresses = status.host_ips.iter().map(|address| address.ip.as_str());
    validate_families(v, &path.child(json_name!(PodStatus.host_ips)), addresses, || internal_values(&status.host_ips));
}

/// Checks that there is at most one address of each family.
fn validate_families<'a>(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    addresses: impl ExactSizeIterator<Item = &'a str> + Clone,
    shown: impl FnOnce() -> BadValue,
) {
    let count = addresses.len();
    if count < 2 {
        return;
    }
    let malformed = addresses.clone().enumerate().find(|(_, address)| ip::parse_ip_sloppy(address).is_none());
    if let Some((index, address)) = malformed {
        let why = format!("failed to check for dual stack with error:invalid IP[{index}]: {address}");
        v.errors.push(FieldError::internal(path, why));
    }
    let parsed: Vec<IpAddr> = addresses.filter_map(ip::parse_ip_sloppy).collect();
    let is_dual = parsed.iter().any(IpAddr::is_ipv4) && parsed.iter().any(IpAddr::is_ipv6);
    if malformed.is_some() || !is_dual || count > 2 {
        v.invalid(path, shown(), BOTH_FAMILIES);
    }
}

/// `validateContainerStatusAllocatedResourcesStatus`. Hand-written, because names are looked up in the
/// named container; missing containers are ignored.
pub fn validate_allocated_resources(v: &mut Validation<'_>, path: &Path<'_>, pod: &Pod, _: Option<&Pod>) {
    let (path, spec, status) = (path.child(json_name!(Pod.status)), &pod.spec, &pod.status);
    validate_allocated(
        v,
        &path.child(json_name!(PodStatus.container_statuses)),
        &status.container_statuses,
        &spec.containers,
    );
    validate_allocated(
        v,
        &path.child(json_name!(PodStatus.init_container_statuses)),
        &status.init_container_statuses,
        &spec.init_containers,
    );
}

fn validate_allocated(v: &mut Validation<'_>, path: &Path<'_>, statuses: &[ContainerStatus], containers: &[Container]) {
    let containers = by_name(containers.iter());
    for (index, status) in statuses.iter().enumerate() {
        let path = path.index(index);
        let path = path.child(json_name!(ContainerStatus.allocated_resources_status));
        let container = containers.get(status.name.as_str()).copied();
        let claims: HashSet<String> =
            container.iter().flat_map(|container| container.resources.claims.iter().map(name_of_claim)).collect();
        for (index, allocated) in status.allocated_resources_status.iter().enumerate() {
            let (path, name) = (path.index(index), allocated.name.as_str());
            let refusal = container.and_then(|container| match name.strip_prefix("claim:") {
                Some(wanted) => (!claims.contains(wanted)).then_some(UNKNOWN_CLAIM),
                None => (!container.resources.requests.contains_key(name)).then_some(UNKNOWN_REQUEST),
            });
            if let Some(refusal) = refusal {
                v.invalid(&path.child(json_name!(ResourceStatus.name)), BadValue::json_string(name), refusal);
            }
            v.checks(&path, Ref::of(allocated), None);
        }
    }
}

/// The name of a claim in a status.
fn name_of_claim(claim: &ResourceClaim) -> String {
    match claim.request.as_str() {
        "" => claim.name.clone(),
        request => format!("{}/{request}", claim.name),
    }
}
