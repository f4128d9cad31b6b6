//! What a service keeps, and what it gives back, when it changes.

use generated::core::v1::{ServiceSpec, service_type};

use super::ports::needs_ports;
use super::{is_addressed, needs_health_check_port};

/// Makes the two spellings of addresses agree, keeps what was given, drops what the new type has no use for (`normalizeClusterIPs`,
/// `patchAllocatedValues`, `dropTypeDependentFields`).
pub fn normalize(spec: &mut ServiceSpec, old: Option<&ServiceSpec>) {
    let Some(old) = old else {
        if !spec.cluster_ip.is_empty() && spec.cluster_ips.is_empty() {
            spec.cluster_ips.push(spec.cluster_ip.clone());
        }
        return;
    };
    follow(spec, old);
    keep_addresses(spec, old);
    keep_ports(spec, old);
    drop_by_type(spec, old);
}

/// A client that knows only `clusterIP` changed it.
fn follow(spec: &mut ServiceSpec, old: &ServiceSpec) {
    let untouched = spec.cluster_ips.is_empty() || spec.cluster_ips == old.cluster_ips;
    if spec.cluster_ip != old.cluster_ip && untouched {
        spec.cluster_ips = Some(spec.cluster_ip.clone()).filter(|ip| !ip.is_empty()).into_iter().collect();
    }
}

fn keep_addresses(spec: &mut ServiceSpec, old: &ServiceSpec) {
    if spec.r#type == service_type::EXTERNAL_NAME || old.r#type == service_type::EXTERNAL_NAME {
        return;
    }
    if is_addressed(old) && is_addressed(spec) {
        if spec.cluster_ip.is_empty() {
            spec.cluster_ip = old.cluster_ip.clone();
        }
        if spec.cluster_ips.is_empty() && spec.cluster_ip == old.cluster_ip {
            spec.cluster_ips = old.cluster_ips.clone();
        }
    } else if spec.cluster_ips.is_empty() && !spec.cluster_ip.is_empty() {
        spec.cluster_ips.push(spec.cluster_ip.clone());
    }
    if spec.ip_family_policy.is_none() {
        spec.ip_family_policy = old.ip_family_policy.clone();
    }
    if spec.ip_families.is_empty() {
        spec.ip_families = old.ip_families.clone();
    }
    let narrows =
        spec.ip_family_policy.as_deref() == Some("SingleStack") && spec.ip_family_policy != old.ip_family_policy;
    if narrows && spec.cluster_ips == old.cluster_ips && spec.ip_families == old.ip_families {
        spec.cluster_ips.truncate(1);
        spec.ip_families.truncate(1);
    }
}

/// Ports are known by their names.
fn keep_ports(spec: &mut ServiceSpec, old: &ServiceSpec) {
    if needs_ports(old) && needs_ports(spec) {
        let mut used: Vec<i32> = spec.ports.iter().map(|p| p.node_port).collect();
        for port in spec.ports.iter_mut().filter(|p| p.node_port == 0) {
            let before = old.ports.iter().rev().find(|p| p.name == port.name).map_or(0, |p| p.node_port);
            if !used.contains(&before) {
                port.node_port = before;
                used.push(before);
            }
        }
    }
    if needs_health_check_port(old) && needs_health_check_port(spec) && spec.health_check_node_port == 0 {
        spec.health_check_node_port = old.health_check_node_port;
    }
}

/// What the client left as it was although the new type has no use for it.
fn drop_by_type(spec: &mut ServiceSpec, old: &ServiceSpec) {
    if spec.r#type == service_type::EXTERNAL_NAME && old.r#type != service_type::EXTERNAL_NAME {
        if spec.cluster_ip == old.cluster_ip && spec.cluster_ips == old.cluster_ips {
            spec.cluster_ip.clear();
            spec.cluster_ips.clear();
        }
        if spec.ip_families == old.ip_families && spec.ip_family_policy == old.ip_family_policy {
            spec.ip_families.clear();
            spec.ip_family_policy = None;
        }
    }
    if needs_ports(old) && !needs_ports(spec) {
        let before: Vec<i32> = old.ports.iter().map(|p| p.node_port).collect();
        for port in spec.ports.iter_mut().filter(|p| before.contains(&p.node_port)) {
            port.node_port = 0;
        }
        if spec.external_traffic_policy == old.external_traffic_policy {
            spec.external_traffic_policy.clear();
        }
    }
    if needs_health_check_port(old)
        && !needs_health_check_port(spec)
        && spec.health_check_node_port == old.health_check_node_port
    {
        spec.health_check_node_port = 0;
    }
    if old.r#type == service_type::LOAD_BALANCER && spec.r#type != service_type::LOAD_BALANCER {
        if spec.allocate_load_balancer_node_ports == old.allocate_load_balancer_node_ports {
            spec.allocate_load_balancer_node_ports = None;
        }
        if spec.load_balancer_class == old.load_balancer_class {
            spec.load_balancer_class = None;
        }
    }
}
