//! What services have only when they are load balancers.

use std::collections::HashSet;

use machinery::field_path::Path;
use machinery::format::{NameRule, ip};
use machinery::hooks::Validation;

use super::addresses::validate_legacy_ip;
use generated::core::v1::{LoadBalancerIngress, LoadBalancerStatus, ServiceSpec, load_balancer_ip_mode, service_type};
use meta::validate_label_name;

const IP_MODES: [&str; 2] = [load_balancer_ip_mode::PROXY, load_balancer_ip_mode::VIP];
const ONLY: &str = "may only be used when `type` is 'LoadBalancer'";

/// Whether balancers take node ports, and whose they are.
pub(super) fn validate_balancer(v: &mut Validation<'_>, path: &Path<'_>, spec: &ServiceSpec) {
    let is_balancer = spec.r#type == service_type::LOAD_BALANCER;
    match spec.allocate_load_balancer_node_ports {
        Some(_) if !is_balancer => v.forbidden(&path.child("allocateLoadBalancerNodePorts"), ONLY),
        // Upstream forgets where the field stands.
        None if is_balancer => v.required(&Path::new("allocateLoadBalancerNodePorts"), ""),
        _ => {}
    }
    validate_class(v, path, spec);
}

/// The part of `validateLoadBalancerClassField` that looks at one object.
pub(super) fn validate_class(v: &mut Validation<'_>, path: &Path<'_>, spec: &ServiceSpec) {
    let Some(class) = &spec.load_balancer_class else { return };
    let path = path.child("loadBalancerClass");
    if spec.r#type == service_type::LOAD_BALANCER {
        validate_label_name(v, &path, class);
    } else {
        v.forbidden(&path, ONLY);
    }
}

/// `ValidateLoadBalancerStatus`
pub(super) fn validate_balancer_status(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    status: &LoadBalancerStatus,
    old: Option<&LoadBalancerStatus>,
    spec: &ServiceSpec,
) {
    let path = path.child("ingress");
    if spec.r#type != service_type::LOAD_BALANCER && !status.ingress.is_empty() {
        return v.forbidden(&path, "may only be used when `spec.type` is 'LoadBalancer'");
    }
    let known = old.iter().flat_map(|old| &old.ingress).map(|point| point.ip.as_str()).collect();
    for (index, point) in status.ingress.iter().enumerate() {
        validate_point(v, &path.index(index), point, &known);
    }
}

fn validate_point(v: &mut Validation<'_>, path: &Path<'_>, point: &LoadBalancerIngress, known: &HashSet<&str>) {
    let (mode_path, has_ip) = (path.child("ipMode"), !point.ip.is_empty());
    if has_ip {
        validate_legacy_ip(v, &path.child("ip"), &point.ip, known);
    }
    match &point.ip_mode {
        None if has_ip => v.required(&mode_path, "must be specified when `ip` is set"),
        None => {}
        Some(_) if !has_ip => v.forbidden(&mode_path, "may not be specified when `ip` is not set"),
        Some(mode) => v.one_of(&mode_path, mode, &IP_MODES),
    }
    validate_host_name(v, &path.child("hostname"), &point.hostname);
}

/// A DNS name, unless it is empty; shared with the status of ingresses.
pub fn validate_host_name(v: &mut Validation<'_>, path: &Path<'_>, name: &str) {
    if name.is_empty() {
        return;
    }
    v.name(path, name, NameRule::Dns1123Subdomain);
    if ip::parse_ip_sloppy(name).is_some() {
        v.invalid(path, name, "must be a DNS name, not an IP address");
    }
}
