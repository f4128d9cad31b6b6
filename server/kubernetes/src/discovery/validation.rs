//! What upstream checks in endpoint slices (`pkg/apis/discovery/validation`) and definitions do not say.

use std::collections::HashSet;

use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::format::field::fully_qualified_domain_name;
use machinery::format::ip;
use machinery::hooks::Validation;
use machinery::options;

use super::ZONE;
use crate::core::validation::addresses::{validate_endpoint_ip, validate_legacy_ip};
use generated::discovery::v1::{Endpoint, EndpointHints, EndpointSlice, address_type};

const MAX_HINTS: usize = 8;

/// What the addresses of a slice are. By hand: endpoints ask for it from below.
pub fn choose_address_type(v: &mut Validation<'_>, _: &Path<'_>, new: &EndpointSlice, _: Option<&EndpointSlice>) {
    v.set_option(options::ADDRESSES_IPV4, new.address_type == address_type::I_PV4);
    v.set_option(options::ADDRESSES_IPV6, new.address_type == address_type::I_PV6);
    v.set_option(options::ADDRESSES_FQDN, new.address_type == address_type::FQDN);
}

/// The addresses of an endpoint. By hand: a wrong family is reported at the list, a malformed address at the item.
pub fn validate_addresses(v: &mut Validation<'_>, path: &Path<'_>, endpoint: &Endpoint, _: Option<&Endpoint>) {
    let path = path.child("addresses");
    for (index, address) in endpoint.addresses.iter().enumerate() {
        let item = path.index(index);
        let is_v6 = ip::parse_ip_sloppy(address).is_some_and(|address| address.to_canonical().is_ipv6());
        if v.has_option(options::ADDRESSES_IPV4) && validate_legacy_ip(v, &item, address, &HashSet::new()) {
            refuse_if(v, &path, address, is_v6, "must be an IPv4 address");
            validate_endpoint_ip(v, &item, address);
        }
        if v.has_option(options::ADDRESSES_IPV6) {
            let errors = ip::is_valid_ip(&item, address);
            if errors.is_empty() {
                refuse_if(v, &path, address, !is_v6, "must be an IPv6 address");
                validate_endpoint_ip(v, &item, address);
            }
            v.errors.extend(errors);
        }
        if v.has_option(options::ADDRESSES_FQDN) {
            v.errors.extend(fully_qualified_domain_name(&item, address));
        }
    }
}

fn refuse_if(v: &mut Validation<'_>, path: &Path<'_>, address: &str, wrong: bool, detail: &'static str) {
    if wrong {
        v.invalid(path, address, detail);
    }
}

/// The zone has a field of its own. By hand: an entry that is left is an internal error.
pub fn validate_topology(v: &mut Validation<'_>, path: &Path<'_>, endpoint: &Endpoint, _: Option<&Endpoint>) {
    if endpoint.deprecated_topology.contains_key(ZONE) {
        let path = path.child("deprecatedTopology");
        v.errors.push(FieldError::internal(&path.key(ZONE), "reserved key was not removed in conversion"));
    }
}

/// Hints to zones and nodes. By hand: nothing is asserted of nodes where there are too many zones.
pub fn validate_hints(v: &mut Validation<'_>, path: &Path<'_>, hints: &EndpointHints, _: Option<&EndpointHints>) {
    let (zones, nodes) = (path.child("forZones"), path.child("forNodes"));
    if hints.for_zones.len() > MAX_HINTS {
        return v.too_many(&zones, hints.for_zones.len(), MAX_HINTS);
    }
    v.checks_of_items(&zones, &hints.for_zones);
    if hints.for_nodes.len() > MAX_HINTS {
        return v.too_many(&nodes, hints.for_nodes.len(), MAX_HINTS);
    }
    v.checks_of_items(&nodes, &hints.for_nodes);
}
