//! Services, as far as no declaration says what holds.

use std::collections::HashSet;

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::addresses::{validate_endpoint_ip, validate_legacy_cidr, validate_legacy_ip};
use super::service_addresses::{validate_addresses_change, validate_families_change};
use crate::core::internal::internal_value;
use generated::core::v1::{Service, ServicePort, ServiceSpec, service_type};

pub(super) const TOPOLOGY_HINTS: &str = "service.kubernetes.io/topology-aware-hints";
const TOPOLOGY_MODE: &str = "service.kubernetes.io/topology-mode";

/// `ValidateServiceCreate`, `ValidateServiceUpdate`, `ValidateServiceStatusUpdate`. By hand: what an annotation says
/// stands
/// between what fields say.
pub fn validate_service(v: &mut Validation<'_>, _: &Path<'_>, new: &Service, old: Option<&Service>) {
    let path = Path::new("spec");
    if v.context.subresource == "status" {
        return;
    }
    let (spec, before) = (Ref::of(&new.spec), old.map(|old| Ref::of(&old.spec)));
    if let Some(old) = old {
        validate_addresses_change(v, &path, &new.spec, &old.spec);
        validate_families_change(v, &path, &new.spec, &old.spec);
        v.checks_of("change", &path, spec, before);
    }
    validate_annotations(v, new);
    v.checks(&path, spec, before);
    validate_source_ranges(v, &path, new, old);
    v.checks_of("after", &path, spec, before);
}

fn validate_annotations(v: &mut Validation<'_>, service: &Service) {
    let annotations = &service.metadata.annotations;
    if let (Some(mode), Some(hints)) = (annotations.get(TOPOLOGY_MODE), annotations.get(TOPOLOGY_HINTS))
        && mode != hints
    {
        let path = Path::new("metadata");
        let detail = format!("must match annotations[{TOPOLOGY_HINTS}] when both are specified");
        v.invalid(&path.child("annotations").key(TOPOLOGY_MODE), mode, detail);
    }
}

/// By hand: what is stored stays valid, and is a set.
pub fn validate_external_addresses(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &ServiceSpec,
    old: Option<&ServiceSpec>,
) {
    let known = old.iter().flat_map(|old| &old.external_ips).map(String::as_str).collect();
    for (index, address) in spec.external_ips.iter().enumerate() {
        let path = path.child("externalIPs");
        let path = path.index(index);
        if validate_legacy_ip(v, &path, address, &known) {
            validate_endpoint_ip(v, &path, address);
        }
    }
}

/// Neither node ports nor ports are used twice with the same protocol. By hand: all node ports are looked at first, and
/// ports
/// are shown without what they do not share.
pub fn validate_unique_ports(v: &mut Validation<'_>, path: &Path<'_>, spec: &ServiceSpec, _: Option<&ServiceSpec>) {
    let path = path.child("ports");
    let (mut ports, mut node_ports) = (HashSet::new(), HashSet::new());
    for (index, port) in spec.ports.iter().enumerate() {
        if port.node_port != 0 && !node_ports.insert((&port.protocol, port.node_port)) {
            v.duplicate(&path.index(index).child("nodePort"), port.node_port);
        }
    }
    for (index, port) in spec.ports.iter().enumerate() {
        if !ports.insert((&port.protocol, port.port)) {
            let key = ServicePort { protocol: port.protocol.clone(), port: port.port, ..ServicePort::default() };
            v.duplicate(&path.index(index), internal_value(&key));
        }
    }
}

const SOURCE_RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";

/// Where clients of a balancer may come from: the field, or the annotation that was there before it. Both may hold blanks.
fn validate_source_ranges(v: &mut Validation<'_>, path: &Path<'_>, service: &Service, old: Option<&Service>) {
    const ONLY: &str = "may only be used when `type` is 'LoadBalancer'";
    let (spec, is_balancer) = (&service.spec, service.spec.r#type == service_type::LOAD_BALANCER);
    if !spec.load_balancer_source_ranges.is_empty() {
        let path = path.child("LoadBalancerSourceRanges");
        if !is_balancer {
            v.forbidden(&path, ONLY);
        }
        let before = old.map_or(&[][..], |old| &old.spec.load_balancer_source_ranges);
        let before: HashSet<&str> = before.iter().map(|range| range.trim()).collect();
        for (index, range) in spec.load_balancer_source_ranges.iter().enumerate() {
            validate_legacy_cidr(v, &path.index(index), range.trim(), &before);
        }
    } else if let Some(ranges) = service.metadata.annotations.get(SOURCE_RANGES) {
        let path = Path::new("metadata");
        let path = path.child("annotations");
        let path = path.key(SOURCE_RANGES);
        if !is_balancer {
            v.forbidden(&path, ONLY);
        }
        let unchanged = old.is_some_and(|old| old.metadata.annotations.get(SOURCE_RANGES) == Some(ranges));
        let ranges = ranges.trim();
        if !unchanged && !ranges.is_empty() {
            ranges.split(',').for_each(|range| validate_legacy_cidr(v, &path, range.trim(), &HashSet::new()));
        }
    }
}
