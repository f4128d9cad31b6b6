//! Services.

use std::collections::{BTreeSet, HashSet};

use machinery::features;
use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::NameRule;
use machinery::hooks::Validation;

use super::addresses::{validate_endpoint_ip, validate_legacy_cidr, validate_legacy_ip};
use super::ports::{PROTOCOLS, validate_port, validate_port_or_name};
use super::service_addresses::{is_headless, validate_addresses, validate_addresses_change, validate_families_change};
use super::service_balancer::{validate_balancer, validate_balancer_status};
use crate::core::internal::internal_value;
use crate::core::service::is_externally_accessible;
use generated::core::v1::{
    Service, ServicePort, ServiceSpec, SessionAffinityConfig, service_affinity, service_external_traffic_policy,
    service_internal_traffic_policy, service_type,
};
use meta::{validate_label_name, validate_labels};

pub(super) const TOPOLOGY_HINTS: &str = "service.kubernetes.io/topology-aware-hints";
const TOPOLOGY_MODE: &str = "service.kubernetes.io/topology-mode";

const TYPES: [&str; 4] =
    [service_type::CLUSTER_IP, service_type::EXTERNAL_NAME, service_type::LOAD_BALANCER, service_type::NODE_PORT];
const AFFINITIES: [&str; 2] = [service_affinity::CLIENT_IP, service_affinity::NONE];
const EXTERNAL_POLICIES: [&str; 2] = [service_external_traffic_policy::CLUSTER, service_external_traffic_policy::LOCAL];
const INTERNAL_POLICIES: [&str; 2] = [service_internal_traffic_policy::CLUSTER, service_internal_traffic_policy::LOCAL];
const DISTRIBUTIONS: [&str; 3] = ["PreferClose", "PreferSameZone", "PreferSameNode"];
/// A day.
const MAX_AFFINITY_SECONDS: i32 = 86_400;

/// `ValidateServiceCreate`, `ValidateServiceUpdate`, `ValidateServiceStatusUpdate`
pub fn validate_service(v: &mut Validation<'_>, _: &Path<'_>, new: &Service, old: Option<&Service>) {
    let path = Path::new("spec");
    if v.context.subresource == "status" {
        let before = old.map(|old| &old.status.load_balancer);
        let path = Path::new("status");
        return validate_balancer_status(v, &path.child("loadBalancer"), &new.status.load_balancer, before, &new.spec);
    }
    if let Some(old) = old {
        validate_addresses_change(v, &path, &new.spec, &old.spec);
        validate_families_change(v, &path, &new.spec, &old.spec);
        validate_class_change(v, &path, &new.spec, &old.spec);
        validate_health_check_change(v, &path, &new.spec, &old.spec);
    }
    validate_annotations(v, new);
    validate_spec(v, &path, new, old);
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

/// `validateService`
fn validate_spec(v: &mut Validation<'_>, path: &Path<'_>, service: &Service, old: Option<&Service>) {
    let (spec, old_spec) = (&service.spec, old.map(|old| &old.spec));
    validate_by_type(v, path, spec);
    let (mut names, ports) = (BTreeSet::new(), path.child("ports"));
    for (index, port) in spec.ports.iter().enumerate() {
        validate_service_port(v, &ports.index(index), port, spec.ports.len() > 1, &mut names);
    }
    validate_labels(v, &path.child("selector"), &spec.selector);
    v.required_one_of(&path.child("sessionAffinity"), &spec.session_affinity, &AFFINITIES);
    validate_affinity(v, &path.child("sessionAffinityConfig"), spec);
    validate_addresses(v, path, spec, old_spec);
    let external = path.child("externalIPs");
    let known = old_spec.iter().flat_map(|old| &old.external_ips).map(String::as_str).collect();
    for (index, address) in spec.external_ips.iter().enumerate() {
        let path = external.index(index);
        if validate_legacy_ip(v, &path, address, &known) {
            validate_endpoint_ip(v, &path, address);
        }
    }
    v.required_one_of(&path.child("type"), &spec.r#type, &TYPES);
    validate_unique_ports(v, &ports, spec);
    validate_source_ranges(v, path, service, old);
    validate_balancer(v, path, spec);
    validate_external_policy(v, path, spec);
    validate_internal_policy(v, &path.child("internalTrafficPolicy"), spec);
    if let Some(distribution) = &spec.traffic_distribution {
        let known = if v.context.enabled(features::PreferSameTrafficDistribution) {
            &DISTRIBUTIONS[..]
        } else {
            &DISTRIBUTIONS[..1]
        };
        if !known.contains(&distribution.as_str()) {
            v.not_supported(&path.child("trafficDistribution"), distribution, known);
        }
    }
}

fn validate_by_type(v: &mut Validation<'_>, path: &Path<'_>, spec: &ServiceSpec) {
    let external_name = spec.r#type == service_type::EXTERNAL_NAME;
    if spec.ports.is_empty() && !is_headless(spec) && !external_name {
        v.required(&path.child("ports"), "");
    }
    if matches!(spec.r#type.as_str(), service_type::LOAD_BALANCER | service_type::NODE_PORT) && is_headless(spec) {
        let detail = format!("may not be set to 'None' for {} services", spec.r#type);
        v.invalid(&path.child("clusterIPs").index(0), "None", detail);
    }
    if external_name {
        validate_external_name(v, path, spec);
    }
}

/// What an alias may not have, and its target, which may end with a dot.
fn validate_external_name(v: &mut Validation<'_>, path: &Path<'_>, spec: &ServiceSpec) {
    for (field, is_set) in [
        ("clusterIPs", !spec.cluster_ips.is_empty()),
        ("ipFamilies", !spec.ip_families.is_empty()),
        ("ipFamilyPolicy", spec.ip_family_policy.is_some()),
    ] {
        if is_set {
            v.forbidden(&path.child(field), "may not be set for ExternalName services");
        }
    }
    let path = path.child("externalName");
    match spec.external_name.strip_suffix('.').unwrap_or(&spec.external_name) {
        "" => v.required(&path, ""),
        name => v.name(&path, name, NameRule::Dns1123Subdomain),
    }
}

/// `validateServicePort`
fn validate_service_port<'s>(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    port: &'s ServicePort,
    named: bool,
    names: &mut BTreeSet<&'s str>,
) {
    let name = path.child("name");
    if named {
        v.filled(&name, &port.name);
    }
    if !port.name.is_empty() {
        v.name(&name, &port.name, NameRule::Dns1123Label);
        if !names.insert(&port.name) {
            v.duplicate(&name, &port.name);
        }
    }
    validate_port(v, &path.child("port"), port.port);
    v.required_one_of(&path.child("protocol"), &port.protocol, &PROTOCOLS);
    validate_port_or_name(v, &path.child("targetPort"), &port.target_port);
    if let Some(protocol) = &port.app_protocol {
        validate_label_name(v, &path.child("appProtocol"), protocol);
    }
}

/// `validateClientIPAffinityConfig`
fn validate_affinity(v: &mut Validation<'_>, path: &Path<'_>, spec: &ServiceSpec) {
    let config = spec.session_affinity_config.as_deref();
    match spec.session_affinity.as_str() {
        service_affinity::NONE if config.is_some() => {
            v.forbidden(path, "must not be set when session affinity is None");
        }
        service_affinity::CLIENT_IP => validate_client_ip(v, path, config),
        _ => {}
    }
}

fn validate_client_ip(v: &mut Validation<'_>, path: &Path<'_>, config: Option<&SessionAffinityConfig>) {
    const WHEN: &str = "when session affinity type is ClientIP";
    let Some(config) = config else { return v.required(path, WHEN) };
    let path = path.child("clientIP");
    let Some(client_ip) = config.client_ip.as_deref() else { return v.required(&path, WHEN) };
    let path = path.child("timeoutSeconds");
    match client_ip.timeout_seconds {
        None => v.required(&path, WHEN),
        Some(seconds) if !(1..=MAX_AFFINITY_SECONDS).contains(&seconds) => {
            v.invalid(&path, seconds, format!("must be greater than 0 and less than {MAX_AFFINITY_SECONDS}"));
        }
        Some(_) => {}
    }
}

/// Neither node ports nor ports are used twice with the same protocol.
fn validate_unique_ports(v: &mut Validation<'_>, path: &Path<'_>, spec: &ServiceSpec) {
    let (mut ports, mut node_ports) = (HashSet::new(), HashSet::new());
    for (index, port) in spec.ports.iter().enumerate() {
        if port.node_port != 0 && spec.r#type == service_type::CLUSTER_IP {
            v.forbidden(&path.index(index).child("nodePort"), "may not be used when `type` is 'ClusterIP'");
        }
    }
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

/// `validateServiceExternalTrafficPolicy`
fn validate_external_policy(v: &mut Validation<'_>, path: &Path<'_>, spec: &ServiceSpec) {
    let (policy, policy_path) = (&spec.external_traffic_policy, path.child("externalTrafficPolicy"));
    if is_externally_accessible(spec) {
        v.required_one_of(&policy_path, policy, &EXTERNAL_POLICIES);
    } else if !policy.is_empty() {
        let detail = "may only be set for externally-accessible services";
        v.invalid(&policy_path, BadValue::json_string(policy), detail);
    }
    let (port, path) = (spec.health_check_node_port, path.child("healthCheckNodePort"));
    match (needs_health_check(spec), port) {
        (true, 0) => v.required(&path, ""),
        (true, port) => validate_port(v, &path, port),
        (false, 0) => {}
        (false, port) => {
            let detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
            v.invalid(&path, port, detail);
        }
    }
}

/// `service.NeedsHealthCheck`
pub(super) fn needs_health_check(spec: &ServiceSpec) -> bool {
    spec.r#type == service_type::LOAD_BALANCER && spec.external_traffic_policy == service_external_traffic_policy::LOCAL
}

/// `validateServiceInternalTrafficFieldsValue`; aliases may have one too, for they once could.
fn validate_internal_policy(v: &mut Validation<'_>, path: &Path<'_>, spec: &ServiceSpec) {
    let routed = TYPES.contains(&spec.r#type.as_str()) && spec.r#type != service_type::EXTERNAL_NAME;
    match &spec.internal_traffic_policy {
        None if routed => v.required(path, ""),
        None => {}
        Some(policy) => v.one_of(path, policy, &INTERNAL_POLICIES),
    }
}

/// `validateServiceExternalTrafficFieldsUpdate`
fn validate_health_check_change(v: &mut Validation<'_>, path: &Path<'_>, new: &ServiceSpec, old: &ServiceSpec) {
    let changed = new.health_check_node_port != old.health_check_node_port;
    if changed && needs_health_check(new) && needs_health_check(old) {
        v.forbidden(&path.child("healthCheckNodePort"), "field is immutable");
    }
}

/// The class of a balancer stays; that of the new one is looked at here and, as upstream does, once more with the rest.
fn validate_class_change(v: &mut Validation<'_>, path: &Path<'_>, new: &ServiceSpec, old: &ServiceSpec) {
    let balancers = [new, old].iter().all(|spec| spec.r#type == service_type::LOAD_BALANCER);
    if balancers && new.load_balancer_class != old.load_balancer_class {
        let class = new.load_balancer_class.as_deref().map_or(BadValue::None, BadValue::json_string);
        v.invalid(&path.child("loadBalancerClass"), class, "may not change once set");
    }
    super::service_balancer::validate_class(v, path, new);
}
