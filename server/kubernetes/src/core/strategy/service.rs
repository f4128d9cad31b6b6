//! Strategy of services: fields that become obsolete with a change of type, and warnings.

use std::collections::HashSet;

use machinery::field_path::Path;
use machinery::format::ip::{warnings_for_cidr, warnings_for_ip};
use machinery::hooks::WriteContext;
use machinery::json_name;

use crate::core::is_externally_accessible;
use generated::core::v1::{
    LoadBalancerIngress, LoadBalancerStatus, Service, ServiceSpec, ServiceStatus, service_affinity,
    service_external_traffic_policy, service_internal_traffic_policy, service_type,
};

const TOPOLOGY_HINTS: &str = "service.kubernetes.io/topology-aware-hints";
const TOPOLOGY_MODE: &str = "service.kubernetes.io/topology-mode";

/// Whether services of this type have cluster addresses.
pub fn needs_address(spec: &ServiceSpec) -> bool {
    spec.r#type != service_type::EXTERNAL_NAME
}

/// Whether services of this type have node ports.
pub fn needs_node_ports(spec: &ServiceSpec) -> bool {
    matches!(spec.r#type.as_str(), service_type::NODE_PORT | service_type::LOAD_BALANCER)
}

/// Whether load balancers send health checks to the nodes of this service (`service.NeedsHealthCheck`).
pub fn needs_health_check(spec: &ServiceSpec) -> bool {
    spec.r#type == service_type::LOAD_BALANCER && spec.external_traffic_policy == service_external_traffic_policy::LOCAL
}

/// Drops fields that do not apply to a new service.
pub fn create_service(_: &WriteContext, service: &mut Service, _: Option<&Service>) {
    drop_internal_policy(&mut service.spec);
}

/// Drops fields that the client left unchanged and that do not apply to the new type
/// (`dropTypeDependentFields`).
pub fn update_service(context: &WriteContext, new: &mut Service, old: &Service) {
    if context.subresource == "status" {
        return;
    }
    drop_addresses(&mut new.spec, &old.spec);
    drop_ports(&mut new.spec, &old.spec);
    drop_balancer(&mut new.spec, &old.spec);
    drop_internal_policy(&mut new.spec);
    if new.spec.r#type != service_type::LOAD_BALANCER {
        new.status.load_balancer = LoadBalancerStatus::default();
    }
}

/// Drops the internal traffic policy of an external name, which has no traffic in the cluster. Upstream
/// stores the policy and never shows it (`defaultOnReadInternalTrafficPolicy`). Invalid policies are
/// kept for validation to report.
fn drop_internal_policy(spec: &mut ServiceSpec) {
    let known = [service_internal_traffic_policy::CLUSTER, service_internal_traffic_policy::LOCAL];
    if !needs_address(spec) && spec.internal_traffic_policy.as_deref().is_some_and(|policy| known.contains(&policy)) {
        spec.internal_traffic_policy = None;
    }
}

fn drop_addresses(new: &mut ServiceSpec, old: &ServiceSpec) {
    if !needs_address(old) || needs_address(new) {
        return;
    }
    if new.cluster_ip == old.cluster_ip && new.cluster_ips == old.cluster_ips {
        new.cluster_ip.clear();
        new.cluster_ips.clear();
    }
    if new.ip_families == old.ip_families {
        new.ip_families.clear();
    }
    if new.ip_family_policy == old.ip_family_policy {
        new.ip_family_policy = None;
    }
}

fn drop_ports(new: &mut ServiceSpec, old: &ServiceSpec) {
    if needs_node_ports(old) && !needs_node_ports(new) {
        let known: HashSet<i32> = old.ports.iter().map(|port| port.node_port).chain([0]).collect();
        if new.ports.iter().all(|port| known.contains(&port.node_port)) {
            new.ports.iter_mut().for_each(|port| port.node_port = 0);
        }
    }
    let hidden = is_externally_accessible(old) && !is_externally_accessible(new);
    if hidden && new.external_traffic_policy == old.external_traffic_policy {
        new.external_traffic_policy.clear();
    }
    let unneeded = needs_health_check(old) && !needs_health_check(new);
    if unneeded && new.health_check_node_port == old.health_check_node_port {
        new.health_check_node_port = 0;
    }
}

fn drop_balancer(new: &mut ServiceSpec, old: &ServiceSpec) {
    if old.r#type != service_type::LOAD_BALANCER || new.r#type == service_type::LOAD_BALANCER {
        return;
    }
    if new.allocate_load_balancer_node_ports == old.allocate_load_balancer_node_ports {
        new.allocate_load_balancer_node_ports = None;
    }
    if new.load_balancer_class == old.load_balancer_class {
        new.load_balancer_class = None;
    }
}

/// Mirrors `service.GetWarningsForService`, and the warnings of status updates.
pub fn warn_service(context: &WriteContext, service: &Service, _: Option<&Service>) -> Vec<String> {
    if context.subresource == "status" {
        return warn_status(service);
    }
    let (spec, mut out) = (&service.spec, Vec::new());
    if service.metadata.annotations.contains_key(TOPOLOGY_HINTS) {
        out.push(format!("annotation {TOPOLOGY_HINTS} is deprecated, please use {TOPOLOGY_MODE} instead"));
    }
    let path = Path::new(json_name!(Service.spec));
    if !matches!(spec.cluster_ip.as_str(), "" | "None") {
        warn_addresses(&path.child(json_name!(ServiceSpec.cluster_ips)), &spec.cluster_ips, &mut out);
    }
    let headless = spec.r#type == service_type::CLUSTER_IP && spec.cluster_ip == "None";
    if headless {
        warn_headless(spec, &mut out);
    }
    warn_addresses(&path.child(json_name!(ServiceSpec.external_ips)), &spec.external_ips, &mut out);
    if !spec.external_ips.is_empty() && !headless && spec.r#type != service_type::EXTERNAL_NAME {
        out.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters".to_owned());
    }
    out.extend(warnings_for_ip(&path.child(json_name!(ServiceSpec.load_balancer_ip)), &spec.load_balancer_ip));
    let ranges = path.child(json_name!(ServiceSpec.load_balancer_source_ranges));
    for (index, range) in spec.load_balancer_source_ranges.iter().enumerate() {
        out.extend(warnings_for_cidr(&ranges.index(index), range));
    }
    warn_of_type(spec, &mut out);
    if spec.traffic_distribution.as_deref() == Some("PreferClose") {
        out.push("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"".to_owned());
    }
    out
}

fn warn_addresses(path: &Path<'_>, addresses: &[String], out: &mut Vec<String>) {
    out.extend(
        addresses.iter().enumerate().filter_map(|(index, address)| warnings_for_ip(&path.index(index), address)),
    );
}

fn warn_headless(spec: &ServiceSpec, out: &mut Vec<String>) {
    for (field, is_set) in [
        ("loadBalancerIP", !spec.load_balancer_ip.is_empty()),
        ("externalIPs", !spec.external_ips.is_empty()),
        ("SessionAffinity", spec.session_affinity != service_affinity::NONE),
    ] {
        if is_set {
            out.push(format!("spec.{field} is ignored for headless services"));
        }
    }
}

fn warn_of_type(spec: &ServiceSpec, out: &mut Vec<String>) {
    let external = spec.r#type == service_type::EXTERNAL_NAME;
    if external && !spec.external_ips.is_empty() {
        out.push("spec.externalIPs is ignored when spec.type is \"ExternalName\"".to_owned());
    }
    if !external && !spec.external_name.is_empty() {
        out.push("spec.externalName is ignored when spec.type is not \"ExternalName\"".to_owned());
    }
}

fn warn_status(service: &Service) -> Vec<String> {
    let path = Path::new(json_name!(Service.status));
    let path = path.child(json_name!(ServiceStatus.load_balancer));
    let path = path.child(json_name!(LoadBalancerStatus.ingress));
    let points = service.status.load_balancer.ingress.iter().enumerate();
    points
        .filter_map(|(index, point)| {
            warnings_for_ip(&path.index(index).child(json_name!(LoadBalancerIngress.ip)), &point.ip)
        })
        .collect()
}
