//! Hand-written functions that definitions of `discovery` refer to.

use generated::discovery::{v1, v1beta1};

mod columns;
mod strategy;
mod validation;

pub use columns::*;
pub use strategy::*;
pub use validation::*;

const ZONE: &str = "topology.kubernetes.io/zone";
const HOSTNAME: &str = "kubernetes.io/hostname";

/// Converts zone and node of `topology` to fields; the rest is kept as `deprecatedTopology`.
pub fn v1beta1_endpoint_to_hub(from: &mut v1beta1::Endpoint, to: &mut v1::Endpoint) {
    let mut topology = std::mem::take(&mut from.topology);
    to.zone = topology.remove(ZONE);
    if let Some(host) = topology.get(HOSTNAME)
        && to.node_name.as_ref().is_none_or(|node| node == host)
    {
        to.node_name = topology.remove(HOSTNAME);
    }
    to.deprecated_topology = topology;
}

/// Converts zone and node to `topology`; a host name that differs from the node's name is kept.
pub fn v1beta1_endpoint_from_hub(from: &mut v1::Endpoint, to: &mut v1beta1::Endpoint) {
    let mut topology = std::mem::take(&mut from.deprecated_topology);
    if let Some(zone) = from.zone.take() {
        topology.insert(ZONE.to_owned(), zone);
    }
    if let Some(node) = &to.node_name
        && topology.get(HOSTNAME).is_none_or(String::is_empty)
    {
        topology.insert(HOSTNAME.to_owned(), node.clone());
    }
    to.topology = topology;
}
