//! The part of a pod that endpoints are made of.

use std::collections::BTreeMap;

use generated::core::v1::{Container, Pod, Service, ServicePort, restart_policy};
use machinery::format::ip::{canonical_ip, parse_ip_sloppy};
use machinery::protobuf::Mask;
use machinery::scalar::{IntOrString, Time};
use machinery::status::Status;
use registry::ResourceStore;
use storage::cache::Entry;

/// An address of a pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    /// Whether it is an IPv6 address.
    pub is_v6: bool,
    /// The canonical text.
    pub text: String,
}

/// A named port of a container.
#[derive(Debug, PartialEq)]
struct NamedPort {
    name: String,
    protocol: String,
    number: i32,
}

/// The part of a pod that endpoints are made of.
#[derive(Debug, Default, PartialEq)]
pub struct Backend {
    /// The uid.
    pub uid: String,
    /// The labels.
    pub labels: BTreeMap<String, String>,
    /// The addresses. The first is the primary one.
    pub addresses: Vec<Address>,
    /// The node; may be empty.
    pub node: String,
    /// Whether all containers have ended.
    is_terminal: bool,
    /// Whether its deletion was requested.
    pub is_terminating: bool,
    /// Whether it is ready.
    pub is_ready: bool,
    /// When its readiness last changed; [`Time::ZERO`] without a condition.
    pub ready_since: Time,
    hostname: String,
    subdomain: String,
    ports: Vec<NamedPort>,
}

/// The fields of a pod that a [`Backend`] has.
const FIELDS: &[&[&str]] = &[
    &["metadata", "uid"],
    &["metadata", "labels"],
    &["metadata", "deletionTimestamp"],
    &["spec", "nodeName"],
    &["spec", "hostname"],
    &["spec", "subdomain"],
    &["spec", "containers", "ports"],
    &["spec", "initContainers", "ports"],
    &["spec", "initContainers", "restartPolicy"],
    &["status", "phase"],
    &["status", "conditions"],
    &["status", "podIP"],
    &["status", "podIPs"],
];

/// Selects the fields of a stored pod that a [`Backend`] has.
pub fn mask(store: &ResourceStore) -> Mask {
    let mut mask = Mask::new(store.storage_kind.def);
    for path in FIELDS {
        mask.add(path);
    }
    mask
}

impl Backend {
    /// Decodes a pod. `mask` is that of [`mask`].
    ///
    /// # Errors
    /// The entry is damaged.
    pub fn of(store: &ResourceStore, entry: &Entry, mask: &Mask) -> Result<Self, Status> {
        let other = |_| Status::internal("the store of pods has another kind");
        store.part(entry, mask)?.into_inner::<Pod>().map(Self::from).map_err(other)
    }

    /// Whether the pod is part of endpoints (`ShouldPodBeInEndpoints`).
    pub fn is_endpoint(&self, include_terminating: bool) -> bool {
        !self.is_terminal && !self.addresses.is_empty() && (include_terminating || !self.is_terminating)
    }

    /// The addresses of a family.
    pub fn addresses_of(&self, is_v6: bool) -> impl Iterator<Item = &str> {
        self.addresses.iter().filter(move |address| address.is_v6 == is_v6).map(|address| address.text.as_str())
    }

    /// The name under which the service resolves the pod (`ShouldSetHostname`).
    pub fn hostname(&self, service: &Service) -> Option<&str> {
        let has_name = !self.hostname.is_empty() && self.subdomain == service.metadata.name;
        has_name.then_some(self.hostname.as_str())
    }

    /// The number of the port that a port of a service stands for, if the pod has it (`FindPort`).
    pub fn port(&self, port: &ServicePort) -> Option<i32> {
        match &port.target_port {
            IntOrString::Int(number) => Some(*number),
            IntOrString::String(name) => {
                let is_named = |named: &&NamedPort| named.name == *name && named.protocol == port.protocol;
                self.ports.iter().find(is_named).map(|named| named.number)
            }
        }
    }
}

impl From<Pod> for Backend {
    fn from(pod: Pod) -> Self {
        let (spec, status) = (pod.spec, pod.status);
        let ready = status.conditions.into_iter().find(|condition| condition.r#type == "Ready");
        // Init containers that restart run beside the others.
        let stays = |container: &Container| container.restart_policy.as_deref() == Some(restart_policy::ALWAYS);
        let containers = spec.containers.into_iter().chain(spec.init_containers.into_iter().filter(stays));
        let ports = containers.flat_map(|container| container.ports).filter(|port| !port.name.is_empty());
        let mut addresses: Vec<String> = status.pod_ips.into_iter().map(|address| address.ip).collect();
        if addresses.is_empty() && !status.pod_ip.is_empty() {
            addresses.push(status.pod_ip);
        }
        Backend {
            uid: pod.metadata.uid,
            labels: pod.metadata.labels,
            addresses: addresses.iter().filter_map(|text| address(text)).collect(),
            node: spec.node_name,
            is_terminal: matches!(status.phase.as_str(), "Failed" | "Succeeded"),
            is_terminating: pod.metadata.deletion_timestamp.is_some(),
            is_ready: ready.as_ref().is_some_and(|condition| condition.status == "True"),
            ready_since: ready.map_or(Time::ZERO, |condition| condition.last_transition_time),
            hostname: spec.hostname,
            subdomain: spec.subdomain,
            ports: ports
                .map(|port| NamedPort { name: port.name, protocol: port.protocol, number: port.container_port })
                .collect(),
        }
    }
}

/// Parses an address. As in Go, an IPv4-mapped address counts as IPv4.
pub fn address(text: &str) -> Option<Address> {
    let parsed = parse_ip_sloppy(text)?;
    Some(Address { is_v6: parsed.to_canonical().is_ipv6(), text: canonical_ip(parsed) })
}

/// Whether labels have all labels of a selector. A selector without labels selects nothing.
pub fn is_selected(selector: &BTreeMap<String, String>, labels: &BTreeMap<String, String>) -> bool {
    !selector.is_empty() && selector.iter().all(|(key, value)| labels.get(key) == Some(value))
}

#[cfg(test)]
mod tests {
    use machinery::reflect::Struct;
    use serde_json::json;

    use super::*;

    #[test]
    fn all_fields_can_be_selected() {
        let mut mask = Mask::new(Pod::DEF);
        assert!(FIELDS.iter().all(|path| mask.add(path)));
    }

    fn pod(spec: serde_json::Value, status: serde_json::Value) -> Backend {
        let pod: Pod = serde_json::from_value(json!({"spec": spec, "status": status})).unwrap();
        pod.into()
    }

    #[test]
    fn named_ports_are_those_of_containers_and_of_restarting_init_containers() {
        let named =
            |number: i32, protocol: &str| json!([{"name": "web", "containerPort": number, "protocol": protocol}]);
        let init = |policy: Option<&str>| json!([{"name": "i", "restartPolicy": policy, "ports": named(1, "TCP")}]);
        let port = |spec: serde_json::Value, target: serde_json::Value, protocol: &str| {
            let port = json!({"port": 80, "targetPort": target, "protocol": protocol});
            pod(spec, json!({})).port(&serde_json::from_value(port).unwrap())
        };
        let container =
            json!({"containers": [{"name": "c", "ports": named(8080, "TCP")}], "initContainers": init(Some("Always"))});
        assert_eq!(port(container.clone(), json!("web"), "TCP"), Some(8080));
        assert_eq!(port(container.clone(), json!("web"), "UDP"), None);
        assert_eq!(port(container, json!(9), "UDP"), Some(9));
        assert_eq!(port(json!({"initContainers": init(Some("Always"))}), json!("web"), "TCP"), Some(1));
        assert_eq!(port(json!({"initContainers": init(None)}), json!("web"), "TCP"), None);
    }

    #[test]
    fn pods_without_address_and_finished_pods_are_no_endpoints() {
        for (status, wanted) in [
            (json!({}), false),
            (json!({"podIP": "10.0.0.1"}), true),
            (json!({"podIPs": [{"ip": "fd00::1"}]}), true),
            (json!({"podIP": "10.0.0.1", "phase": "Failed"}), false),
            (json!({"podIP": "10.0.0.1", "phase": "Succeeded"}), false),
            (json!({"podIP": "10.0.0.1", "phase": "Unknown"}), true),
        ] {
            assert_eq!(pod(json!({}), status.clone()).is_endpoint(true), wanted, "{status}");
        }
    }

    #[test]
    fn addresses_are_canonical() {
        assert_eq!(address("010.0.0.01"), Some(Address { is_v6: false, text: "10.0.0.1".into() }));
        assert_eq!(address("FD00:0::1"), Some(Address { is_v6: true, text: "fd00::1".into() }));
        assert_eq!(address("::ffff:10.0.0.1"), Some(Address { is_v6: false, text: "10.0.0.1".into() }));
        assert_eq!(address("host"), None);
    }
}
