//! What kubelets and the scheduler say about pods.
//! By hand: the status is compared with the spec, and with what is stored.

use std::net::IpAddr;

use machinery::features;
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::format::{NameRule, ip};
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::annotations::validate_annotations_change;
use super::container_transition::{validate_ephemeral_transitions, validate_transitions};
use super::options::PodOptions;
use super::pod_status_claims::validate_claim_statuses;
use super::pod_status_containers::validate_container_statuses;
use crate::core::internal::internal_values;
use generated::core::v1::{Pod, PodStatus};

const BOTH_FAMILIES: &str = "may specify no more than one IP for each IP family";

/// `ValidatePodStatusUpdate`
pub(super) fn validate_status_change(v: &mut Validation<'_>, new: &Pod, old: &Pod, options: &PodOptions) {
    let metadata = Path::new("metadata");
    let both = (&new.metadata.annotations, &old.metadata.annotations);
    validate_annotations_change(v, &metadata.child("annotations"), both, &new.spec, options);
    let path = Path::new("status");
    let (all, stored) = (Ref::of(&new.status), Some(Ref::of(&old.status)));
    v.checks(&path, all, stored);
    if new.spec.node_name != old.spec.node_name {
        v.forbidden(&path.child("nodeName"), "may not be changed directly");
    }
    validate_nomination(v, &path.child("nominatedNodeName"), new, old);
    let (status, was) = (&new.status, &old.status);
    v.checks_of("class", &path, all, stored);
    let spec = &old.spec;
    for (list, new, old, containers) in [
        ("containerStatuses", &status.container_statuses, &was.container_statuses, &spec.containers),
        ("initContainerStatuses", &status.init_container_statuses, &was.init_container_statuses, &spec.init_containers),
    ] {
        validate_transitions(v, &path.child(list), (new, old), (spec, containers), options);
    }
    let (ephemeral, was_ephemeral) = (&status.ephemeral_container_statuses, &was.ephemeral_container_statuses);
    validate_ephemeral_transitions(v, &path.child("ephemeralContainerStatuses"), ephemeral, was_ephemeral);
    validate_claim_statuses(v, &path, status, &new.spec);
    validate_addresses(v, &path, status, was);
    validate_container_statuses(v, &path, status, &new.spec);
}

/// The node that a pod waits for; not for pods that have one.
fn validate_nomination(v: &mut Validation<'_>, path: &Path<'_>, new: &Pod, old: &Pod) {
    let name = &new.status.nominated_node_name;
    if name.is_empty() || *name == old.status.nominated_node_name {
        return;
    }
    v.name(path, name, NameRule::Dns1123Subdomain);
    if v.context.enabled(features::ClearingNominatedNodeNameAfterBinding) && !old.spec.node_name.is_empty() {
        v.forbidden(path, "may not be set on pods that are already bound to a node");
    }
}

/// `validatePodIPs`, `validateHostIPs`
fn validate_addresses(v: &mut Validation<'_>, path: &Path<'_>, new: &PodStatus, old: &PodStatus) {
    let (all, stored) = (Ref::of(new), Some(Ref::of(old)));
    v.checks_of("pod_addresses", path, all, stored);
    let addresses: Vec<&str> = new.pod_ips.iter().map(|address| address.ip.as_str()).collect();
    validate_families(v, &path.child("podIPs"), &addresses, || internal_values(&new.pod_ips));
    let of_host = path.child("hostIPs");
    if let Some(first) = new.host_ips.first().filter(|first| first.ip != new.host_ip) {
        v.invalid(&of_host.index(0).child("ip"), &first.ip, "must be equal to `hostIP`");
    }
    v.checks_of("host_addresses", path, all, stored);
    let addresses: Vec<&str> = new.host_ips.iter().map(|address| address.ip.as_str()).collect();
    validate_families(v, &of_host, &addresses, || internal_values(&new.host_ips));
}

/// One address of each family at most.
fn validate_families(v: &mut Validation<'_>, path: &Path<'_>, new: &[&str], shown: impl FnOnce() -> BadValue) {
    if new.len() < 2 {
        return;
    }
    let parsed: Vec<Option<IpAddr>> = new.iter().map(|address| ip::parse_ip_sloppy(address)).collect();
    if let Some(index) = parsed.iter().position(Option::is_none) {
        let why = format!("failed to check for dual stack with error:invalid IP[{index}]: {}", new[index]);
        v.errors.push(FieldError::internal(path, why));
    }
    let addresses: Vec<IpAddr> = parsed.into_iter().flatten().collect();
    let dual =
        addresses.len() == new.len() && addresses.iter().any(IpAddr::is_ipv4) && addresses.iter().any(IpAddr::is_ipv6);
    if !dual || new.len() > 2 {
        v.invalid(path, shown(), BOTH_FAMILIES);
    }
}
