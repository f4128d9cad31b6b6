//! The endpoints of a service, and the endpoint slices that hold them (upstream:
//! `k8s.io/endpointslice`).

use std::collections::BTreeMap;

use apimachinery::meta::v1::{ObjectMeta, OwnerReference};
use generated::core::v1::{ObjectReference, Service};
use generated::discovery::v1::{Endpoint, EndpointPort, EndpointSlice};

use super::backend::Backend;
use super::informers::{MANAGED_BY, SERVICE_NAME};
use super::order;

/// The label of endpoints and endpoint slices of a service without a virtual address.
pub const HEADLESS: &str = "service.kubernetes.io/headless";
/// The value of [`MANAGED_BY`] for slices that this program makes of pods.
pub const MANAGER: &str = "endpointslice-controller.k8s.io";
/// The longest name of an object.
const MAX_NAME: usize = 253;

/// A port as a key: name, protocol, number and application protocol.
type PortKey = (Option<String>, Option<String>, Option<i32>, Option<String>);
/// The ports of a slice as a key.
pub type PortsKey = Vec<PortKey>;

/// What identifies an endpoint: sorted addresses, hostname, and namespace and name of its target
/// (`endpointHashObj`). Other differences are changes of the endpoint.
pub type EndpointKey = (Vec<String>, String, String, String);

/// Endpoints by identity.
pub type EndpointSet = BTreeMap<EndpointKey, Endpoint>;

/// The endpoints that have the same ports.
pub struct PortGroup {
    /// The ports, in upstream's order.
    pub ports: Vec<EndpointPort>,
    /// The endpoints.
    pub endpoints: EndpointSet,
}

/// The groups of a service by ports.
pub type PortGroups = BTreeMap<PortsKey, PortGroup>;

/// What identifies an endpoint.
pub fn endpoint_key(endpoint: &Endpoint) -> EndpointKey {
    let mut addresses = endpoint.addresses.clone();
    addresses.sort();
    let target = endpoint.target_ref.as_deref();
    let (namespace, name) = target.map(|target| (target.namespace.clone(), target.name.clone())).unwrap_or_default();
    (addresses, endpoint.hostname.clone().unwrap_or_default(), namespace, name)
}

/// The key of ports in any order.
pub fn ports_key(ports: &[EndpointPort]) -> PortsKey {
    let key = |port: &EndpointPort| (port.name.clone(), port.protocol.clone(), port.port, port.app_protocol.clone());
    let mut keys: PortsKey = ports.iter().map(key).collect();
    keys.sort();
    keys
}

/// Whether endpoints with one key are equal but for hints and the version of the target
/// (`EndpointsEqualBeyondHash`).
pub fn are_equal(one: &Endpoint, other: &Endpoint) -> bool {
    let target = |endpoint: &Endpoint| {
        endpoint
            .target_ref
            .as_deref()
            .map(|target| ObjectReference { resource_version: String::new(), ..target.clone() })
    };
    one.node_name == other.node_name
        && one.zone == other.zone
        && one.conditions == other.conditions
        && target(one) == target(other)
}

/// The families of the slices of a service: `IPv4`, `IPv6` (`getAddressTypesForService`).
pub fn families(service: &Service) -> Vec<&'static str> {
    let spec = &service.spec;
    let known = ["IPv4", "IPv6"].into_iter().filter(|family| spec.ip_families.iter().any(|has| has == family));
    let known: Vec<_> = known.collect();
    match (known.is_empty(), has_address(service)) {
        (false, _) => known,
        // Services of servers without families have none.
        (true, true) => vec![if spec.cluster_ip.contains(':') { "IPv6" } else { "IPv4" }],
        (true, false) => vec!["IPv4", "IPv6"],
    }
}

/// Whether a service has a virtual address (`IsServiceIPSet`).
pub fn has_address(service: &Service) -> bool {
    !matches!(service.spec.cluster_ip.as_str(), "" | "None")
}

/// Whether a slice belongs to a service, and not to an older one with its name.
pub fn is_owned(slice: &EndpointSlice, service: &Service) -> bool {
    let is_owner = |owner: &OwnerReference| {
        owner.uid == service.metadata.uid && owner.kind == "Service" && owner.api_version == "v1"
    };
    slice.metadata.owner_references.iter().any(is_owner)
}

/// The groups of a family that the pods of a service make up, and why pods are missing.
///
/// `zone` returns the zone of a node, and `None` for a node that does not exist.
pub fn groups(
    service: &Service,
    backends: &[(String, std::sync::Arc<Backend>)],
    family: &str,
    zone: impl Fn(&str) -> Option<Option<String>>,
) -> (PortGroups, Vec<String>) {
    let (mut groups, mut missing) = (PortGroups::new(), Vec::new());
    let (namespace, service_name) = (&service.metadata.namespace, &service.metadata.name);
    for (name, backend) in backends.iter().filter(|(_, backend)| backend.is_endpoint(true)) {
        let ports = ports(service, backend);
        let group = groups.entry(ports_key(&ports)).or_insert(PortGroup { ports, endpoints: EndpointSet::new() });
        let zone = zone(&backend.node);
        if zone.is_none() && !service.spec.publish_not_ready_addresses {
            let node = &backend.node;
            missing.push(format!("skipping Pod {name} for Service {namespace}/{service_name}: Node {node} Not Found"));
            continue;
        }
        let endpoint = endpoint(service, name, backend, family, zone.flatten());
        if !endpoint.addresses.is_empty() {
            group.endpoints.insert(endpoint_key(&endpoint), endpoint);
        }
    }
    (groups, missing)
}

/// The ports of a pod for a service; those that it lacks are left out (`getEndpointPorts`).
fn ports(service: &Service, backend: &Backend) -> Vec<EndpointPort> {
    let port = |port: &generated::core::v1::ServicePort| {
        Some(EndpointPort {
            name: Some(port.name.clone()),
            port: Some(backend.port(port)?),
            protocol: Some(port.protocol.clone()),
            app_protocol: port.app_protocol.clone(),
        })
    };
    let mut ports: Vec<EndpointPort> = service.spec.ports.iter().filter_map(port).collect();
    order::sort_slice_ports(&mut ports);
    ports
}

/// The endpoint of a pod (`podToEndpoint`).
fn endpoint(service: &Service, name: &str, backend: &Backend, family: &str, zone: Option<String>) -> Endpoint {
    let mut endpoint = Endpoint { zone, ..Endpoint::default() };
    endpoint.addresses = backend.addresses_of(family == "IPv6").map(str::to_owned).collect();
    let is_accepting = backend.is_ready && !backend.is_terminating;
    endpoint.conditions.ready = Some(service.spec.publish_not_ready_addresses || is_accepting);
    endpoint.conditions.serving = Some(backend.is_ready);
    endpoint.conditions.terminating = Some(backend.is_terminating);
    endpoint.node_name = Some(backend.node.clone()).filter(|node| !node.is_empty());
    endpoint.hostname = backend.hostname(service).map(str::to_owned);
    endpoint.target_ref = Some(Box::new(ObjectReference {
        kind: "Pod".into(),
        namespace: service.metadata.namespace.clone(),
        name: name.into(),
        uid: backend.uid.clone(),
        ..ObjectReference::default()
    }));
    endpoint
}

/// The labels of the slices of a service: its own, and those that describe the slice.
pub fn labels(service: &Service) -> BTreeMap<String, String> {
    let mut labels = unreserved(&service.metadata.labels);
    if !has_address(service) {
        labels.insert(HEADLESS.into(), String::new());
    }
    labels.insert(SERVICE_NAME.into(), service.metadata.name.clone());
    labels.insert(MANAGED_BY.into(), MANAGER.into());
    labels
}

/// The labels that a slice takes from its service. Changes of the others alone are not written.
pub fn unreserved(labels: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let is_own = |(key, _): &(&String, &String)| !matches!(key.as_str(), SERVICE_NAME | MANAGED_BY | HEADLESS);
    labels.iter().filter(is_own).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// A new slice of a service without endpoints.
pub fn new_slice(service: &Service, family: &str, ports: &[EndpointPort]) -> EndpointSlice {
    EndpointSlice {
        metadata: ObjectMeta {
            labels: labels(service),
            generate_name: name_prefix(&service.metadata.name),
            namespace: service.metadata.namespace.clone(),
            owner_references: vec![owner("Service", &service.metadata)],
            ..ObjectMeta::default()
        },
        address_type: family.into(),
        ports: ports.to_vec(),
        ..EndpointSlice::default()
    }
}

/// A reference to the controller of an object.
pub fn owner(kind: &str, metadata: &ObjectMeta) -> OwnerReference {
    OwnerReference {
        api_version: "v1".into(),
        kind: kind.into(),
        name: metadata.name.clone(),
        uid: metadata.uid.clone(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

/// The beginning of the names of slices.
pub fn name_prefix(name: &str) -> String {
    if name.len() < MAX_NAME { format!("{name}-") } else { name.to_owned() }
}
