//! Hand-written validation of services.

use std::collections::HashSet;
use std::net::IpAddr;

use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::format::ip::parse_ip_sloppy;
use machinery::hooks::{Validation, WriteContext};
use machinery::json_name;
use machinery::reflect::Ref;

use super::addresses::{validate_legacy_cidr, validate_legacy_ip};
use crate::core::internal::internal_value;
use apimachinery::meta::v1::ObjectMeta;
use generated::core::v1::{Service, ServicePort, ServiceSpec, ip_family};

const SOURCE_RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";
/// Cluster address of headless services.
const NONE: &str = "None";

type Spec = ServiceSpec;

/// Errors of addresses and families, before addresses are allocated.
pub fn service_address_errors(context: &WriteContext, spec: &Spec, old: Option<&Spec>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let old = old.map(Ref::of);
    Validation::new(context, &mut errors).checks_of(
        "addresses",
        &Path::new(json_name!(Service.spec)),
        Ref::of(spec),
        old,
    );
    errors
}

/// The other checks of `ValidateServiceClusterIPsRelatedFields`. Hand-written, because addresses have
/// families, provided that all can be parsed.
pub fn validate_cluster_addresses(v: &mut Validation<'_>, path: &Path<'_>, spec: &Spec, old: Option<&Spec>) {
    let (path, before) = (&path.child(json_name!(ServiceSpec.cluster_ips)), v.errors.len());
    let (texts, shown) = (&spec.cluster_ips, BadValue::strings(&spec.cluster_ips));
    let known = old.iter().flat_map(|old| &old.cluster_ips).map(String::as_str).collect();
    for (index, address) in texts.iter().enumerate() {
        if index > 0 || address != NONE {
            validate_legacy_ip(v, &path.index(index), address, &known);
        } else if texts.len() > 1 {
            v.invalid(path, shown.clone(), "'None' must be the first and only value");
        }
    }
    let readable = v.errors.len() == before;
    if texts.len() > 2 {
        v.invalid(path, shown.clone(), "may only hold up to 2 values");
    }
    if !readable || matches!(texts.as_slice(), [only] if only == NONE) {
        return;
    }
    let addresses: Vec<Option<IpAddr>> = texts.iter().map(|text| parse_ip_sloppy(text)).collect();
    // A stored `None` may be at another index.
    let unread = addresses.iter().position(Option::is_none);
    if let (Some(index), [_, _, ..]) = (unread, texts.as_slice()) {
        let text = format!("failed to check for dual stack with error:invalid IP[{index}]: {}", texts[index]);
        v.errors.push(FieldError::internal(path, text));
    }
    let is_v6 = |address: &Option<IpAddr>| address.is_some_and(|address| address.to_canonical().is_ipv6());
    let is_dual = unread.is_none() && addresses.iter().any(is_v6) && !addresses.iter().all(is_v6);
    if texts.len() > 1 && !is_dual {
        v.invalid(path, shown, "may specify no more than one IP for each IP family");
    }
    for (index, (address, family)) in addresses.iter().zip(&spec.ip_families).enumerate() {
        let other = if is_v6(address) { ip_family::I_PV4 } else { ip_family::I_PV6 };
        if family == other {
            let detail = format!("expected an {family} value as indicated by `ipFamilies[{index}]`");
            v.invalid(&path.index(index), &texts[index], detail);
        }
    }
}

/// Checks that node ports and ports are unique per protocol. Hand-written, because all node ports are
/// checked first, and errors show only the fields that have to be unique.
pub fn validate_unique_ports(v: &mut Validation<'_>, path: &Path<'_>, spec: &Spec, _: Option<&Spec>) {
    let path = path.child(json_name!(ServiceSpec.ports));
    let (mut ports, mut node_ports) = (HashSet::new(), HashSet::new());
    for (index, port) in spec.ports.iter().enumerate() {
        if port.node_port != 0 && !node_ports.insert((&port.protocol, port.node_port)) {
            v.duplicate(&path.index(index).child(json_name!(ServicePort.node_port)), port.node_port);
        }
    }
    for (index, port) in spec.ports.iter().enumerate() {
        if !ports.insert((&port.protocol, port.port)) {
            let key = ServicePort { protocol: port.protocol.clone(), port: port.port, ..ServicePort::default() };
            v.duplicate(&path.index(index), internal_value(&key));
        }
    }
}

/// Validates the source ranges of a load balancer: the field, or the annotation that predates it.
/// Hand-written, because both may contain blanks, and the annotation is a list in a string.
pub fn validate_source_ranges(v: &mut Validation<'_>, path: &Path<'_>, new: &Service, old: Option<&Service>) {
    let (spec, metadata) = (path.child(json_name!(Service.spec)), path.child(json_name!(Service.metadata)));
    let (field, annotations) =
        (spec.child("LoadBalancerSourceRanges"), metadata.child(json_name!(ObjectMeta.annotations)));
    let stored = old.iter().flat_map(|old| &old.spec.load_balancer_source_ranges);
    let stored = stored.map(|range| range.trim()).collect();
    for (index, range) in new.spec.load_balancer_source_ranges.iter().enumerate() {
        validate_legacy_cidr(v, &field.index(index), range.trim(), &stored);
    }
    let annotated = new.metadata.annotations.get(SOURCE_RANGES).filter(|ranges| !ranges.trim().is_empty());
    let is_stored = old.is_some_and(|old| old.metadata.annotations.get(SOURCE_RANGES) == annotated);
    if !is_stored && new.spec.load_balancer_source_ranges.is_empty() {
        for range in annotated.iter().flat_map(|ranges| ranges.split(',')) {
            validate_legacy_cidr(v, &annotations.key(SOURCE_RANGES), range.trim(), &HashSet::new());
        }
    }
}
