//! Which resource claims were made for a pod. By hand: names are looked up in the spec.

use std::collections::{BTreeMap, BTreeSet};

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::resources::is_native_resource;
use generated::core::v1::{
    Container, NodeAllocatableResourceClaimStatus, PodExtendedResourceClaimStatus, PodResourceClaimStatus, PodSpec,
    PodStatus,
};

const UNKNOWN_CLAIM: &str = "must match the name of an entry in `spec.resourceClaims`";
const UNKNOWN_CONTAINER: &str = "must match the name of an entry in spec.initContainers.name or spec.containers.name";
const UNKNOWN_RESOURCE: &str = "must match the extended resource name of an entry in \
    spec.initContainers.resources.requests or spec.containers.resources.requests";

/// All statuses about claims, below the pod's status.
pub(super) fn validate_claim_statuses(v: &mut Validation<'_>, path: &Path<'_>, status: &PodStatus, spec: &PodSpec) {
    validate_claims(v, &path.child("resourceClaimStatuses"), &status.resource_claim_statuses, spec);
    if let Some(status) = status.extended_resource_claim_status.as_deref() {
        validate_extended(v, &path.child("extendedResourceClaimStatus"), status, spec);
    }
    let allocatable = &status.node_allocatable_resource_claim_statuses;
    validate_node_allocatable(v, &path.child("nodeAllocatableResourceClaimStatuses"), allocatable);
}

/// `validatePodResourceClaimStatuses`
fn validate_claims(v: &mut Validation<'_>, path: &Path<'_>, statuses: &[PodResourceClaimStatus], spec: &PodSpec) {
    let mut names = BTreeSet::new();
    let claims: BTreeSet<&str> = spec.resource_claims.iter().map(|claim| claim.name.as_str()).collect();
    for (index, status) in statuses.iter().enumerate() {
        let path = path.index(index);
        let path = path.child("name");
        if !claims.contains(status.name.as_str()) {
            v.invalid(&path, &status.name, UNKNOWN_CLAIM);
        }
        if !names.insert(&status.name) {
            v.duplicate(&path, &status.name);
        }
        if let Some(name) = &status.resource_claim_name {
            for message in NameRule::Dns1123Subdomain.check(name, false) {
                v.invalid(&path, BadValue::json_string(name), message);
            }
        }
    }
}

/// `validatePodExtendedResourceClaimStatus`
fn validate_extended(v: &mut Validation<'_>, path: &Path<'_>, status: &PodExtendedResourceClaimStatus, spec: &PodSpec) {
    let mappings = path.child("requestMappings");
    if status.request_mappings.is_empty() {
        v.required(&mappings, "at least one request mapping is required");
    }
    let mut seen = BTreeSet::new();
    // Of containers of one name, the first one counts.
    let containers: Vec<&Container> = spec.containers.iter().chain(&spec.init_containers).collect();
    let containers: BTreeMap<&str, &Container> = containers.into_iter().rev().map(|c| (c.name.as_str(), c)).collect();
    for (index, mapping) in status.request_mappings.iter().enumerate() {
        let entry = mappings.index(index);
        let (container, resource, request) =
            (mapping.container_name.as_str(), mapping.resource_name.as_str(), mapping.request_name.as_str());
        match containers.get(container) {
            None => v.invalid(&entry.child("containerName"), container, UNKNOWN_CONTAINER),
            Some(c) if !c.resources.requests.contains_key(resource) => {
                v.invalid(&entry.child("resourceName"), resource, UNKNOWN_RESOURCE);
            }
            Some(_) => {}
        }
        v.name(&path.child("requestName"), request, NameRule::Dns1123Label);
        if !seen.insert((container, resource, request)) {
            v.duplicate(&entry.child("containerName"), container);
            v.duplicate(&entry.child("resourceName"), resource);
            v.duplicate(&entry.child("requestName"), request);
        }
    }
    validate_claim_name(v, &path.child("resourceClaimName"), &status.resource_claim_name);
}

fn validate_claim_name(v: &mut Validation<'_>, path: &Path<'_>, name: &str) {
    if name.is_empty() {
        v.required(path, "");
    } else {
        v.name(path, name, NameRule::Dns1123Subdomain);
    }
}

/// `validateNodeAllocatableResourceClaimStatus`
fn validate_node_allocatable(v: &mut Validation<'_>, path: &Path<'_>, statuses: &[NodeAllocatableResourceClaimStatus]) {
    for (index, status) in statuses.iter().enumerate() {
        let path = path.index(index);
        v.checks(&path, Ref::of(status), None);
        let resources = path.child("resources");
        for (name, amount) in &status.resources {
            let path = resources.key(name);
            if !is_native_resource(name) {
                v.invalid(&path, BadValue::json_string(name), "must be a native resource");
            }
            if amount.sign().is_lt() {
                v.invalid(&path, amount.to_string(), "must be greater than or equal to 0");
            }
        }
    }
}
