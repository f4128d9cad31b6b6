//! The order of ports and subsets in endpoints: that of upstream, which sorts them by a hash of their
//! Go values (`hashutil.DeepHashObject`). Another order would make each change of the program that
//! runs the controllers a change of the objects.

use std::fmt::{Display, Write};

use generated::core::v1::{EndpointAddress, EndpointPort, EndpointSubset, ObjectReference};
use generated::discovery::v1;

/// Sorts the ports of endpoints.
pub fn sort_ports(ports: &mut [EndpointPort]) {
    ports.sort_by_cached_key(|port| hash(&format!("(v1.EndpointPort){}", endpoint_port(port))));
}

/// Sorts subsets of endpoints.
pub fn sort_subsets(subsets: &mut [EndpointSubset]) {
    subsets.sort_by_cached_key(|one| hash(&subset(one)));
}

/// Sorts the ports of an endpoint slice.
pub fn sort_slice_ports(ports: &mut [v1::EndpointPort]) {
    ports.sort_by_cached_key(|port| hash(&slice_port(port)));
}

/// The hash of a text (FNV-1a, 128 bits).
fn hash(text: &str) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = (1 << 88) + 0x13b;
    text.bytes().fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

// The texts are those of spew's `%#v`, with the names and the order of Go's fields.

fn optional<T: Display>(name: &str, value: Option<T>) -> String {
    match value {
        Some(value) => format!("(*{name}){value}"),
        None => format!("(*{name})<nil>"),
    }
}

/// A list. Upstream leaves lists of addresses and ports without items nil.
fn list(name: &str, items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() {
        return format!("([]v1.{name})<nil>");
    }
    format!("([]v1.{name})[{}]", items.join(" "))
}

fn endpoint_port(port: &EndpointPort) -> String {
    let EndpointPort { name, port, protocol, app_protocol } = port;
    let app_protocol = optional("string", app_protocol.as_ref());
    format!("{{Name:(string){name} Port:(int32){port} Protocol:(v1.Protocol){protocol} AppProtocol:{app_protocol}}}")
}

fn slice_port(port: &v1::EndpointPort) -> String {
    format!(
        "(v1.EndpointPort){{Name:{} Protocol:{} Port:{} AppProtocol:{}}}",
        optional("string", port.name.as_ref()),
        optional("v1.Protocol", port.protocol.as_ref()),
        optional("int32", port.port),
        optional("string", port.app_protocol.as_ref()),
    )
}

fn subset(subset: &EndpointSubset) -> String {
    format!(
        "(v1.EndpointSubset){{Addresses:{} NotReadyAddresses:{} Ports:{}}}",
        list("EndpointAddress", subset.addresses.iter().map(address)),
        list("EndpointAddress", subset.not_ready_addresses.iter().map(address)),
        list("EndpointPort", subset.ports.iter().map(endpoint_port)),
    )
}

fn address(address: &EndpointAddress) -> String {
    format!(
        "{{IP:(string){} Hostname:(string){} NodeName:{} TargetRef:{}}}",
        address.ip,
        address.hostname,
        optional("string", address.node_name.as_ref()),
        optional("v1.ObjectReference", address.target_ref.as_deref().map(reference)),
    )
}

fn reference(reference: &ObjectReference) -> String {
    let fields = [
        ("Kind", "string", &reference.kind),
        ("Namespace", "string", &reference.namespace),
        ("Name", "string", &reference.name),
        ("UID", "types.UID", &reference.uid),
        ("APIVersion", "string", &reference.api_version),
        ("ResourceVersion", "string", &reference.resource_version),
        ("FieldPath", "string", &reference.field_path),
    ];
    let mut text = String::new();
    for (name, kind, value) in fields {
        let separator = if text.is_empty() { "{" } else { " " };
        let _ = write!(text, "{separator}{name}:({kind}){value}"); // cannot fail on a String
    }
    text + "}"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn typed<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    /// The hashes are those of `k8s.io/api` 0.36.2 and `k8s.io/utils/dump`.
    #[test]
    fn hashes_are_those_of_go() {
        let port = |value| hash(&format!("(v1.EndpointPort){}", endpoint_port(&typed(value))));
        let http = json!({"name": "http", "port": 80, "protocol": "TCP"});
        assert_eq!(port(http.clone()), 0x754b_003f_50f1_33a5_39c6_0d18_cfb3_0a55);
        let udp = json!({"port": 8080, "protocol": "UDP", "appProtocol": "kubernetes.io/h2c"});
        assert_eq!(port(udp), 0xfe11_4e4a_d19f_6f04_a05a_7a49_2bd6_80c2);
        assert_eq!(hash(&slice_port(&typed(http.clone()))), 0xb6c4_d325_122a_5ba6_f795_b0bb_ffce_bb6f);
        assert_eq!(hash(&slice_port(&typed(json!({})))), 0xad86_6eb7_cd51_62a9_e204_34eb_d9de_eacd);
        let target = json!({"kind": "Pod", "namespace": "n", "name": "p", "uid": "u"});
        let whole = json!({
            "addresses": [
                {"ip": "10.0.0.1", "hostname": "h", "nodeName": "node", "targetRef": target},
                {"ip": "10.0.0.2"},
            ],
            "ports": [http, {"name": "b", "port": 81, "protocol": "TCP"}],
        });
        assert_eq!(hash(&subset(&typed(whole))), 0x3cd9_a839_1156_88c7_7d72_0f3d_988a_40d6);
    }
}
