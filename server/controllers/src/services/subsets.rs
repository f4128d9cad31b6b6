//! The subsets of an Endpoints object (upstream: `pkg/api/v1/endpoints`, `endpoint.Controller`).

use std::collections::BTreeMap;

use generated::core::v1::{EndpointAddress, EndpointPort, EndpointSubset, ObjectReference, Service};

use super::backend::Backend;
use super::order;

/// Maximum number of addresses in an Endpoints object (`maxCapacity`).
pub const MAX_ADDRESSES: usize = 1000;

/// A port as a key: name, number, protocol and application protocol. `None` stands for no port.
type PortKey = Option<(String, i32, String, Option<String>)>;
/// Address and uid of the target of an endpoint, which identify it.
type AddressKey = (String, Option<String>);
/// Endpoints by identity, and whether they are ready. All ports of a subset have the same ones.
type Readiness = BTreeMap<AddressKey, bool>;

/// The subsets of a service that these pods back.
pub fn of(service: &Service, backends: &[(String, std::sync::Arc<Backend>)]) -> Vec<EndpointSubset> {
    let tolerates_unready = service.spec.publish_not_ready_addresses;
    let mut subsets = Vec::new();
    for (name, backend) in backends.iter().filter(|(_, backend)| backend.is_endpoint(tolerates_unready)) {
        let Some(address) = address(service, name, backend) else { continue };
        let is_ready = tolerates_unready || backend.is_ready;
        let mut add = |ports: Vec<EndpointPort>| {
            let (ready, other) =
                if is_ready { (vec![address.clone()], vec![]) } else { (vec![], vec![address.clone()]) };
            subsets.push(EndpointSubset { addresses: ready, not_ready_addresses: other, ports });
        };
        if service.spec.ports.is_empty() && service.spec.cluster_ip == "None" {
            add(Vec::new());
        }
        for port in &service.spec.ports {
            if let Some(number) = backend.port(port) {
                add(vec![EndpointPort {
                    name: port.name.clone(),
                    port: number,
                    protocol: port.protocol.clone(),
                    app_protocol: port.app_protocol.clone(),
                }]);
            }
        }
    }
    repack(&subsets)
}

/// The address of a pod in the first family of a service; `None` if the pod has none
/// (`podToEndpointAddressForService`).
fn address(service: &Service, name: &str, backend: &Backend) -> Option<EndpointAddress> {
    let spec = &service.spec;
    let is_v6 = match spec.ip_families.first() {
        Some(family) => family == "IPv6",
        None if !spec.cluster_ip.is_empty() && spec.cluster_ip != "None" => spec.cluster_ip.contains(':'),
        None => backend.addresses.first().is_some_and(|address| address.is_v6),
    };
    let ip = backend.addresses_of(is_v6).next()?.to_owned();
    let target = ObjectReference {
        kind: "Pod".into(),
        namespace: service.metadata.namespace.clone(),
        name: name.into(),
        uid: backend.uid.clone(),
        ..ObjectReference::default()
    };
    let hostname = backend.hostname(service).unwrap_or_default().to_owned();
    // Upstream sets the node of a pod without one, too.
    Some(EndpointAddress { ip, hostname, node_name: Some(backend.node.clone()), target_ref: Some(Box::new(target)) })
}

/// Brings subsets into their canonical form: each address and each port once, grouped by addresses
/// (`RepackSubsets`).
pub fn repack(subsets: &[EndpointSubset]) -> Vec<EndpointSubset> {
    let mut addresses: BTreeMap<AddressKey, &EndpointAddress> = BTreeMap::new();
    let mut by_port: BTreeMap<PortKey, Readiness> = BTreeMap::new();
    for subset in subsets {
        let ports = subset.ports.iter().map(|port| Some(port_key(port)));
        let ports: Vec<PortKey> = if subset.ports.is_empty() { vec![None] } else { ports.collect() };
        let ready = subset.addresses.iter().map(|address| (address, true));
        for (address, is_ready) in ready.chain(subset.not_ready_addresses.iter().map(|address| (address, false))) {
            let key = (address.ip.clone(), address.target_ref.as_ref().map(|target| target.uid.clone()));
            addresses.entry(key.clone()).or_insert(address);
            for port in &ports {
                // An address that is also not ready is not ready.
                *by_port.entry(port.clone()).or_default().entry(key.clone()).or_insert(true) &= is_ready;
            }
        }
    }
    let mut by_addresses: BTreeMap<Readiness, Vec<EndpointPort>> = BTreeMap::new();
    for (port, readiness) in by_port {
        by_addresses.entry(readiness).or_default().extend(port.map(from_key));
    }
    let subset = |(readiness, mut ports): (Readiness, Vec<EndpointPort>)| {
        let mut subset = EndpointSubset::default();
        // The keys have upstream's order: by address, those without a target first.
        for (key, is_ready) in readiness {
            let list = if is_ready { &mut subset.addresses } else { &mut subset.not_ready_addresses };
            list.extend(addresses.get(&key).map(|address| (*address).clone()));
        }
        order::sort_ports(&mut ports);
        EndpointSubset { ports, ..subset }
    };
    let mut repacked: Vec<EndpointSubset> = by_addresses.into_iter().map(subset).collect();
    order::sort_subsets(&mut repacked);
    repacked
}

fn port_key(port: &EndpointPort) -> (String, i32, String, Option<String>) {
    (port.name.clone(), port.port, port.protocol.clone(), port.app_protocol.clone())
}

fn from_key((name, port, protocol, app_protocol): (String, i32, String, Option<String>)) -> EndpointPort {
    EndpointPort { name, port, protocol, app_protocol }
}

/// The number of addresses.
pub fn count(subsets: &[EndpointSubset]) -> usize {
    subsets.iter().map(|subset| subset.addresses.len() + subset.not_ready_addresses.len()).sum()
}

/// Removes addresses above the limit, first those that are not ready, from all subsets in proportion;
/// returns whether there were too many (`truncateEndpoints`).
pub fn truncate(subsets: &mut [EndpointSubset]) -> bool {
    if count(subsets) <= MAX_ADDRESSES {
        return false;
    }
    let ready: usize = subsets.iter().map(|subset| subset.addresses.len()).sum();
    let truncates_ready = ready > MAX_ADDRESSES;
    let (total, limit) =
        if truncates_ready { (ready, MAX_ADDRESSES) } else { (count(subsets) - ready, MAX_ADDRESSES - ready) };
    let mut left = limit;
    for subset in subsets {
        if truncates_ready {
            subset.not_ready_addresses.clear();
        }
        let list = if truncates_ready { &mut subset.addresses } else { &mut subset.not_ready_addresses };
        // The share is rounded up, so the last subset may get less.
        list.truncate((list.len() * limit).div_ceil(total).min(left));
        left -= list.len();
    }
    true
}

/// Whether subsets are equal but for the versions of their targets.
pub fn are_equal(one: &[EndpointSubset], other: &[EndpointSubset]) -> bool {
    let without_versions = |subsets: &[EndpointSubset]| {
        let mut subsets = subsets.to_vec();
        for subset in &mut subsets {
            let addresses = subset.addresses.iter_mut().chain(&mut subset.not_ready_addresses);
            addresses
                .filter_map(|address| address.target_ref.as_mut())
                .for_each(|target| target.resource_version.clear());
        }
        subsets
    };
    without_versions(one) == without_versions(other)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn typed(subsets: Value) -> Vec<EndpointSubset> {
        serde_json::from_value(subsets).unwrap()
    }

    fn many(ready: usize, unready: usize) -> EndpointSubset {
        let addresses = |count: usize, byte: u8| {
            (0..count).map(|at| json!({"ip": format!("10.{byte}.{}.{}", at / 256, at % 256)})).collect::<Vec<_>>()
        };
        let subset = json!({"addresses": addresses(ready, 0), "notReadyAddresses": addresses(unready, 1)});
        serde_json::from_value(subset).unwrap()
    }

    #[test]
    fn repack_groups_ports_with_the_same_addresses() {
        let port = |number: i32| json!([{"port": number, "protocol": "TCP"}]);
        let a = json!([{"ip": "10.0.0.1"}]);
        let b = json!([{"ip": "10.0.0.2"}]);
        for (given, wanted) in [
            // One subset for ports that all addresses have.
            (json!([{"addresses": a, "ports": port(1)}, {"addresses": a, "ports": port(2)}]), 1),
            // The addresses differ.
            (json!([{"addresses": a, "ports": port(1)}, {"addresses": b, "ports": port(2)}]), 2),
            // The readiness differs.
            (json!([{"addresses": a, "ports": port(1)}, {"notReadyAddresses": a, "ports": port(2)}]), 2),
            // No ports at all.
            (json!([{"addresses": a}, {"addresses": b}]), 1),
            (json!([]), 0),
        ] {
            let repacked = repack(&typed(given.clone()));
            assert_eq!(repacked.len(), wanted, "{given}");
            assert_eq!(repack(&repacked), repacked);
        }
        let both = repack(&typed(json!([{"addresses": a, "notReadyAddresses": a, "ports": port(1)}])));
        assert_eq!((both[0].addresses.len(), both[0].not_ready_addresses.len()), (0, 1));
    }

    #[test]
    fn too_many_addresses_are_removed_in_proportion_and_ready_ones_last() {
        for (given, is_truncated, wanted) in [
            (vec![(900, 100)], false, vec![(900, 100)]),
            (vec![(900, 300)], true, vec![(900, 100)]),
            (vec![(1200, 5)], true, vec![(1000, 0)]),
            (vec![(900, 0), (300, 0)], true, vec![(750, 0), (250, 0)]),
            (vec![(500, 334), (400, 333), (0, 333)], true, vec![(500, 34), (400, 34), (0, 32)]),
        ] {
            let mut subsets: Vec<_> = given.iter().map(|(ready, unready)| many(*ready, *unready)).collect();
            assert_eq!(truncate(&mut subsets), is_truncated);
            let left: Vec<_> = subsets.iter().map(|s| (s.addresses.len(), s.not_ready_addresses.len())).collect();
            assert_eq!(left, wanted, "{given:?}");
        }
    }

    #[test]
    fn versions_of_targets_make_no_difference() {
        let with = |version: &str| {
            typed(json!([{"addresses": [{"ip": "10.0.0.1", "targetRef": {"resourceVersion": version}}]}]))
        };
        assert!(are_equal(&with("1"), &with("2")) && !are_equal(&with("1"), &[]));
    }
}
