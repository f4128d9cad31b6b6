//! Service addresses and node ports: both servers allocate without duplicates.

use std::collections::HashSet;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::api::Api;

const SERVICES: &str = "/api/v1/namespaces/default/services";
const ADDRESSES: &str = "/apis/networking.k8s.io/v1/ipaddresses";
const CIDRS: &str = "/apis/networking.k8s.io/v1/servicecidrs";
/// Services of each server: with three ports each, both together use most of the 128 ports.
const EACH: usize = 18;

/// Returns a service with two node ports and a health check port.
fn load_balancer(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"type": "LoadBalancer", "externalTrafficPolicy": "Local",
        "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]}})
}

/// Returns the node ports of a service, including the health check port.
fn ports(service: &Value) -> Vec<i64> {
    let spec = &service["spec"];
    let numbers = spec["ports"].as_array().unwrap().iter().filter_map(|port| port["nodePort"].as_i64());
    numbers.chain(spec["healthCheckNodePort"].as_i64()).collect()
}

fn address(service: &Value) -> String {
    service["spec"]["clusterIP"].as_str().unwrap().to_owned()
}

/// Both servers allocate addresses and ports concurrently, and release them.
pub async fn check(ours: &Api, theirs: &Api, round: &str) {
    let names: Vec<String> = (0..2 * EACH).map(|index| format!("{round}-{index}")).collect();
    let creates = names.iter().enumerate().map(|(index, name)| {
        let server = if index % 2 == 0 { ours } else { theirs };
        async move { server.create(SERVICES, &load_balancer(name)).await }
    });
    let created: Vec<Value> = join_all(creates).await;
    let addresses: HashSet<String> = created.iter().map(address).collect();
    assert_eq!(addresses.len(), 2 * EACH, "each service has an address of its own");
    let given: HashSet<i64> = created.iter().flat_map(ports).collect();
    assert_eq!(given.len(), 2 * EACH * 3, "each service has ports of its own");
    assert!(given.iter().all(|port| (30000..=30127).contains(port)), "{given:?}");
    check_ip_addresses(ours, theirs, &created).await;
    rejects_allocated(ours, &created[1]).await;
    rejects_allocated(theirs, &created[0]).await;

    // Each server releases what the other one allocated.
    for (index, service) in created.iter().enumerate() {
        let other = if index % 2 == 0 { theirs } else { ours };
        let name = service["metadata"]["name"].as_str().unwrap();
        other.delete(&format!("{SERVICES}/{name}")).await;
        let code = ours.code(&format!("{ADDRESSES}/{}", address(service))).await;
        assert_eq!(code, 404, "the address of {name} is free");
    }
    allocates_released(ours, theirs, &created[0], round).await;
    allocates_released(theirs, ours, &created[1], round).await;
    allocates_from_added_range(ours, theirs, round).await;
    allocates_from_added_range(theirs, ours, round).await;
}

/// Each address has an IPAddress object that refers to its service.
async fn check_ip_addresses(ours: &Api, theirs: &Api, services: &[Value]) {
    for service in services {
        let path = format!("{ADDRESSES}/{}", address(service));
        let (here, there) = (ours.get(&path).await, theirs.get(&path).await);
        assert_eq!(here, there);
        assert_eq!(here["spec"]["parentRef"]["name"], service["metadata"]["name"]);
    }
}

/// A server rejects an address or port of the other server's service.
async fn rejects_allocated(server: &Api, service: &Value) {
    let mut wants_address = load_balancer("wants");
    wants_address["spec"]["clusterIP"] = service["spec"]["clusterIP"].clone();
    let mut wants_port = load_balancer("wants");
    wants_port["spec"]["ports"][0]["nodePort"] = service["spec"]["healthCheckNodePort"].clone();
    for (wanted, expected) in
        [(wants_address, "provided IP is already allocated"), (wants_port, "provided port is already allocated")]
    {
        let (code, answer) = server.request(Method::POST, SERVICES, "application/json", Some(&wanted)).await;
        let message = answer["message"].as_str().unwrap_or_default();
        assert!(code == 422 && message.contains(expected), "{}: {code} {answer}", server.name);
    }
}

/// A released address and port can be requested again, and set by an update at the other server.
async fn allocates_released(one: &Api, other: &Api, freed: &Value, round: &str) {
    let name = format!("{round}-again-{}", one.name);
    let mut wanted = load_balancer(&name);
    wanted["spec"]["clusterIP"] = freed["spec"]["clusterIP"].clone();
    // Unspecified ports are allocated before the requested health check port and could take it.
    for port in 0..2 {
        wanted["spec"]["ports"][port]["nodePort"] = freed["spec"]["ports"][port]["nodePort"].clone();
    }
    wanted["spec"]["healthCheckNodePort"] = freed["spec"]["healthCheckNodePort"].clone();
    let created = one.create(SERVICES, &wanted).await;
    let path = format!("{SERVICES}/{name}");
    let inner = json!({"spec": {"type": "ClusterIP", "externalTrafficPolicy": null, "healthCheckNodePort": null,
        "allocateLoadBalancerNodePorts": null, "ports": [{"name": "a", "port": 80}]}});
    let changed = other.merge(&path, &inner).await;
    assert_eq!((address(&changed), ports(&changed)), (address(&created), Vec::new()), "{}", other.name);
    let outer =
        json!({"spec": {"type": "NodePort", "ports": [{"name": "a", "port": 80, "nodePort": ports(&created)[0]}]}});
    let changed = one.merge(&path, &outer).await;
    assert_eq!(ports(&changed), [ports(&created)[0]], "{}", one.name);
    other.delete(&path).await;
}

/// A server allocates addresses from a ServiceCIDR that was created at the other one.
async fn allocates_from_added_range(one: &Api, other: &Api, round: &str) {
    let name = format!("{round}-{}", one.name);
    let range = if one.name == "ours" { "198.18.1.0" } else { "198.18.2.0" };
    let path = format!("{CIDRS}/{name}");
    one.create(
        CIDRS,
        &json!({"apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR", "metadata": {"name": name},
        "spec": {"cidrs": [format!("{range}/24")]}}),
    )
    .await;
    let ready = json!({"type": "Ready", "status": "True", "reason": "", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z"});
    one.merge(&format!("{path}/status"), &json!({"status": {"conditions": [ready]}})).await;
    let wanted = format!("{}9", range.trim_end_matches('0'));
    let mut service = load_balancer(&format!("{name}-far"));
    service["spec"]["clusterIP"] = wanted.as_str().into();
    let begin = std::time::Instant::now();
    loop {
        let (code, answer) = other.request(Method::POST, SERVICES, "application/json", Some(&service)).await;
        if code == 201 {
            break;
        }
        assert!(begin.elapsed().as_secs() < 60, "{}: {answer}", other.name);
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    let parent = &one.get(&format!("{ADDRESSES}/{wanted}")).await["spec"]["parentRef"];
    assert_eq!(parent["name"], format!("{name}-far"));
    one.delete(&format!("{SERVICES}/{name}-far")).await;
    other.delete(&path).await;
}
