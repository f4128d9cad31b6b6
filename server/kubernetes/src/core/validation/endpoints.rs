//! Endpoints.

use std::collections::HashSet;

use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;

use super::addresses::{validate_endpoint_ip, validate_legacy_ip};
use super::ports::{PROTOCOLS, validate_port};
use generated::core::v1::{EndpointAddress, EndpointPort, EndpointSubset, Endpoints};
use meta::validate_label_name;

/// `ValidateEndpoints`: subsets that an update leaves as they are may have been valid once.
pub fn validate_endpoints(v: &mut Validation<'_>, _: &Path<'_>, new: &Endpoints, old: Option<&Endpoints>) {
    if old.is_some_and(|old| is_same(&old.subsets, &new.subsets)) {
        return;
    }
    let path = Path::new("subsets");
    for (index, subset) in new.subsets.iter().enumerate() {
        validate_subset(v, &path.index(index), subset);
    }
}

fn is_same(old: &[EndpointSubset], new: &[EndpointSubset]) -> bool {
    use machinery::reflect::Ref;
    old.len() == new.len() && old.iter().zip(new).all(|(old, new)| Ref::of(old) == Ref::of(new))
}

fn validate_subset(v: &mut Validation<'_>, path: &Path<'_>, subset: &EndpointSubset) {
    if subset.addresses.is_empty() && subset.not_ready_addresses.is_empty() {
        v.required(path, "must specify `addresses` or `notReadyAddresses`");
    }
    for (field, addresses) in [("addresses", &subset.addresses), ("notReadyAddresses", &subset.not_ready_addresses)] {
        let path = path.child(field);
        for (index, address) in addresses.iter().enumerate() {
            validate_address(v, &path.index(index), address);
        }
    }
    let ports = path.child("ports");
    for (index, port) in subset.ports.iter().enumerate() {
        validate_endpoint_port(v, &ports.index(index), port, subset.ports.len() > 1);
    }
}

fn validate_address(v: &mut Validation<'_>, path: &Path<'_>, address: &EndpointAddress) {
    let ip = path.child("ip");
    validate_legacy_ip(v, &ip, &address.ip, &HashSet::new());
    if !address.hostname.is_empty() {
        v.name(&path.child("hostname"), &address.hostname, NameRule::Dns1123Label);
    }
    if let Some(node) = &address.node_name {
        v.name(&path.child("nodeName"), node, NameRule::Dns1123Subdomain);
    }
    validate_endpoint_ip(v, &ip, &address.ip);
}

fn validate_endpoint_port(v: &mut Validation<'_>, path: &Path<'_>, port: &EndpointPort, named: bool) {
    let name = path.child("name");
    if named {
        v.filled(&name, &port.name);
    }
    if !port.name.is_empty() {
        v.name(&name, &port.name, NameRule::Dns1123Label);
    }
    validate_port(v, &path.child("port"), port.port);
    v.required_one_of(&path.child("protocol"), &port.protocol, &PROTOCOLS);
    if let Some(protocol) = &port.app_protocol {
        validate_label_name(v, &path.child("appProtocol"), protocol);
    }
}
