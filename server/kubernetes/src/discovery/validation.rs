//! Endpoint slices (upstream: `pkg/apis/discovery/validation`).

use std::collections::{BTreeSet, HashSet};

use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::format::field::fully_qualified_domain_name;
use machinery::format::{self, NameRule, ip};
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::ZONE;
use crate::core::validation::addresses::{validate_endpoint_ip, validate_legacy_ip};
use crate::core::validation::ports::PROTOCOLS;
use generated::discovery::v1::{Endpoint, EndpointHints, EndpointPort, EndpointSlice, address_type};
use meta::{validate_label_name, validate_labels};

const ADDRESS_TYPES: [&str; 3] = [address_type::FQDN, address_type::I_PV4, address_type::I_PV6];
const MAX_TOPOLOGY_LABELS: usize = 16;
const MAX_ADDRESSES: usize = 100;
const MAX_PORTS: usize = 20_000;
const MAX_ENDPOINTS: usize = 1000;
const MAX_HINTS: usize = 8;

/// `ValidateEndpointSlice`, `ValidateEndpointSliceUpdate`: endpoints that an update leaves as they are may have been valid once.
pub fn validate_endpoint_slice(v: &mut Validation<'_>, _: &Path<'_>, new: &EndpointSlice, old: Option<&EndpointSlice>) {
    let path = Path::new("addressType");
    v.required_one_of(&path, &new.address_type, &ADDRESS_TYPES);
    validate_ports(v, &Path::new("ports"), &new.ports);
    if !old.is_some_and(|old| has_same_endpoints(old, new)) {
        validate_endpoints(v, &Path::new("endpoints"), new);
    }
    if old.is_some_and(|old| old.address_type != new.address_type) {
        v.invalid(&path, BadValue::json_string(&new.address_type), "field is immutable");
    }
}

pub(super) fn has_same_endpoints(old: &EndpointSlice, new: &EndpointSlice) -> bool {
    let same = |(old, new): (&Endpoint, &Endpoint)| Ref::of(old) == Ref::of(new);
    old.endpoints.len() == new.endpoints.len() && old.endpoints.iter().zip(&new.endpoints).all(same)
}

fn validate_ports(v: &mut Validation<'_>, path: &Path<'_>, ports: &[EndpointPort]) {
    if ports.len() > MAX_PORTS {
        return v.too_many(path, ports.len(), MAX_PORTS);
    }
    let mut names = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let path = path.index(index);
        let (name_path, name) = (path.child("name"), port.name.as_deref().unwrap_or_default());
        v.malformed_name(&name_path, name, NameRule::Dns1123Label, false);
        if !names.insert(name) {
            v.duplicate(&name_path, name);
        }
        match &port.protocol {
            None => v.required(&path.child("protocol"), ""),
            Some(protocol) => v.one_of(&path.child("protocol"), protocol, &PROTOCOLS),
        }
        if let Some(protocol) = &port.app_protocol {
            validate_label_name(v, &path.child("appProtocol"), protocol);
        }
    }
}

fn validate_endpoints(v: &mut Validation<'_>, path: &Path<'_>, slice: &EndpointSlice) {
    if slice.endpoints.len() > MAX_ENDPOINTS {
        return v.too_many(path, slice.endpoints.len(), MAX_ENDPOINTS);
    }
    for (index, endpoint) in slice.endpoints.iter().enumerate() {
        let path = path.index(index);
        validate_addresses(v, &path.child("addresses"), endpoint, &slice.address_type);
        if let Some(node) = &endpoint.node_name {
            v.name(&path.child("nodeName"), node, NameRule::Dns1123Subdomain);
        }
        validate_topology(v, &path.child("deprecatedTopology"), endpoint);
        if let Some(name) = &endpoint.hostname {
            v.name(&path.child("hostname"), name, NameRule::Dns1123Label);
        }
        if let Some(hints) = endpoint.hints.as_deref() {
            validate_hints(v, &path.child("hints"), hints);
        }
    }
}

fn validate_addresses(v: &mut Validation<'_>, path: &Path<'_>, endpoint: &Endpoint, address_type: &str) {
    match endpoint.addresses.len() {
        0 => v.required(path, "must contain at least 1 address"),
        count if count > MAX_ADDRESSES => v.too_many(path, count, MAX_ADDRESSES),
        _ => {}
    }
    for (index, address) in endpoint.addresses.iter().enumerate() {
        let item = path.index(index);
        let is_v6 = ip::parse_ip_sloppy(address).is_some_and(|address| address.to_canonical().is_ipv6());
        // A wrong family is reported at the list.
        match address_type {
            address_type::I_PV4 if validate_legacy_ip(v, &item, address, &HashSet::new()) => {
                refuse_if(v, path, address, is_v6, "must be an IPv4 address");
                validate_endpoint_ip(v, &item, address);
            }
            address_type::I_PV6 => {
                let errors = ip::is_valid_ip(&item, address);
                if errors.is_empty() {
                    refuse_if(v, path, address, !is_v6, "must be an IPv6 address");
                    validate_endpoint_ip(v, &item, address);
                }
                v.errors.extend(errors);
            }
            address_type::FQDN => v.errors.extend(fully_qualified_domain_name(&item, address)),
            _ => {}
        }
    }
}

fn refuse_if(v: &mut Validation<'_>, path: &Path<'_>, address: &str, wrong: bool, detail: &'static str) {
    if wrong {
        v.invalid(path, address, detail);
    }
}

fn validate_topology(v: &mut Validation<'_>, path: &Path<'_>, endpoint: &Endpoint) {
    let topology = &endpoint.deprecated_topology;
    if topology.len() > MAX_TOPOLOGY_LABELS {
        v.too_many(path, topology.len(), MAX_TOPOLOGY_LABELS);
    }
    validate_labels(v, path, topology);
    if topology.contains_key(ZONE) {
        v.errors.push(FieldError::internal(&path.key(ZONE), "reserved key was not removed in conversion"));
    }
}

/// Too many zones are the end of it.
fn validate_hints(v: &mut Validation<'_>, path: &Path<'_>, hints: &EndpointHints) {
    let (zones, nodes) = (path.child("forZones"), path.child("forNodes"));
    let names: Vec<&str> = hints.for_zones.iter().map(|zone| zone.name.as_str()).collect();
    if validate_hint(v, &zones, &names, format::is_label_value) {
        let names: Vec<&str> = hints.for_nodes.iter().map(|node| node.name.as_str()).collect();
        validate_hint(v, &nodes, &names, format::is_dns1123_subdomain);
    }
}

/// Tells whether there are not too many.
fn validate_hint(v: &mut Validation<'_>, path: &Path<'_>, names: &[&str], check: fn(&str) -> format::Messages) -> bool {
    if names.len() > MAX_HINTS {
        v.too_many(path, names.len(), MAX_HINTS);
        return false;
    }
    for (index, name) in names.iter().enumerate() {
        let path = path.index(index);
        let path = path.child("name");
        if names[..index].contains(name) {
            v.duplicate(&path, *name);
        }
        v.malformed(&path, name, check(name));
    }
    true
}
