//! Completion of omitted fields of created and updated services.

use std::collections::{HashMap, HashSet};

use generated::core::v1::ServiceSpec;
use kubernetes::core::{needs_address, needs_health_check, needs_node_ports};

/// Keeps allocated values and makes `clusterIP` and `clusterIPs` consistent.
pub fn complete(spec: &mut ServiceSpec, old: Option<&ServiceSpec>) {
    match old {
        None => {
            if !spec.cluster_ip.is_empty() && spec.cluster_ips.is_empty() {
                spec.cluster_ips.push(spec.cluster_ip.clone());
            }
        }
        Some(old) => {
            patch_allocated_values(spec, old);
            sync_cluster_ips(spec, old);
        }
    }
}

/// `patchAllocatedValues`
fn patch_allocated_values(spec: &mut ServiceSpec, old: &ServiceSpec) {
    if needs_address(old) && needs_address(spec) {
        if spec.cluster_ip.is_empty() {
            spec.cluster_ip.clone_from(&old.cluster_ip);
        }
        if spec.cluster_ips.is_empty() {
            spec.cluster_ips.clone_from(&old.cluster_ips);
        }
    }
    if needs_node_ports(old) && needs_node_ports(spec) {
        keep_node_ports(spec, old);
    }
    if needs_health_check(old) && needs_health_check(spec) && spec.health_check_node_port == 0 {
        spec.health_check_node_port = old.health_check_node_port;
    }
}

/// Keeps node ports of ports with the same name. A number that the update assigns to another port
/// is not reused.
fn keep_node_ports(spec: &mut ServiceSpec, old: &ServiceSpec) {
    let had: HashSet<i32> = old.ports.iter().map(|port| port.node_port).collect();
    let numbers = spec.ports.iter().map(|port| port.node_port);
    let mut used: HashSet<i32> = numbers.filter(|number| *number != 0 && had.contains(number)).collect();
    let by_name: HashMap<&str, i32> = old.ports.iter().map(|port| (port.name.as_str(), port.node_port)).collect();
    for port in spec.ports.iter_mut().filter(|port| port.node_port == 0) {
        let before = by_name.get(port.name.as_str()).copied().unwrap_or(0);
        if used.insert(before) {
            port.node_port = before;
        }
    }
}

/// `normalizeClusterIPs` of an update: old clients set only `clusterIP`.
fn sync_cluster_ips(spec: &mut ServiceSpec, old: &ServiceSpec) {
    if spec.cluster_ips.is_empty() && spec.cluster_ip == old.cluster_ip {
        spec.cluster_ips.clone_from(&old.cluster_ips);
    }
    if spec.cluster_ip != old.cluster_ip && spec.cluster_ips == old.cluster_ips {
        spec.cluster_ips = match (old.cluster_ip.is_empty(), spec.cluster_ip.is_empty()) {
            (false, true) => Vec::new(),
            _ => vec![spec.cluster_ip.clone()],
        };
    }
}
