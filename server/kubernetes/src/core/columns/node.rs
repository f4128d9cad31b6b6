//! Columns of nodes.

use std::collections::BTreeSet;

use machinery::print::{Cell, PrintContext, or};

use generated::core::v1::{Node, condition_status, node_address_type, node_condition_type};

pub fn node_external_ip(node: &Node, _: &PrintContext) -> Cell {
    address(node, node_address_type::EXTERNAL_IP)
}

pub fn node_internal_ip(node: &Node, _: &PrintContext) -> Cell {
    address(node, node_address_type::INTERNAL_IP)
}

fn address(node: &Node, kind: &str) -> Cell {
    node.status.addresses.iter().find(|a| a.r#type == kind).map_or("<none>", |a| a.address.as_str()).into()
}

pub fn node_kernel_version(node: &Node, _: &PrintContext) -> Cell {
    let info = &node.status.node_info;
    let kernel = or(&info.kernel_version, "<unknown>");
    if info.architecture.is_empty() { kernel.into() } else { format!("{kernel} ({})", info.architecture).into() }
}

/// The roles of a node, from the keys `node-role.kubernetes.io/<role>` and the value of
/// `kubernetes.io/role`.
pub fn node_roles(node: &Node, _: &PrintContext) -> Cell {
    let role = |(key, value): (&'_ String, &'_ String)| match key.strip_prefix("node-role.kubernetes.io/") {
        Some(role) => Some(role.to_string()),
        None => (key == "kubernetes.io/role").then(|| value.clone()),
    };
    let roles: BTreeSet<String> = node.metadata.labels.iter().filter_map(role).filter(|r| !r.is_empty()).collect();
    or(roles.into_iter().collect::<Vec<_>>().join(","), "<none>").into()
}

pub fn node_status(node: &Node, _: &PrintContext) -> Cell {
    let ready = match node.status.conditions.iter().rfind(|c| c.r#type == node_condition_type::READY) {
        Some(condition) if condition.status == condition_status::TRUE => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    };
    if node.spec.unschedulable { format!("{ready},SchedulingDisabled").into() } else { ready.into() }
}
