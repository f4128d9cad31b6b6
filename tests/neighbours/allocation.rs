//! Addresses and ports of services: no two services get one, whichever server gives it.

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

/// A service with a node port, and one for health checks.
fn balanced(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"type": "LoadBalancer", "externalTrafficPolicy": "Local",
        "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]}})
}

/// The node ports of a service, with that for health checks.
fn ports(service: &Value) -> Vec<i64> {
    let spec = &service["spec"];
    let numbers = spec["ports"].as_array().unwrap().iter().filter_map(|port| port["nodePort"].as_i64());
    numbers.chain(spec["healthCheckNodePort"].as_i64()).collect()
}

fn address(service: &Value) -> String {
    service["spec"]["clusterIP"].as_str().unwrap().to_owned()
}

/// Both give addresses and ports at the same time, and take them back.
pub async fn check(ours: &Api, theirs: &Api, round: &str) {
    let names: Vec<String> = (0..2 * EACH).map(|index| format!("{round}-{index}")).collect();
    let creates = names.iter().enumerate().map(|(index, name)| {
        let server = if index % 2 == 0 { ours } else { theirs };
        async move { server.create(SERVICES, &balanced(name)).await }
    });
    let created: Vec<Value> = join_all(creates).await;
    let addresses: HashSet<String> = created.iter().map(address).collect();
    assert_eq!(addresses.len(), 2 * EACH, "each service has an address of its own");
    let given: HashSet<i64> = created.iter().flat_map(ports).collect();
    assert_eq!(given.len(), 2 * EACH * 3, "each service has ports of its own");
    assert!(given.iter().all(|port| (30000..=30127).contains(port)), "{given:?}");
    belong(ours, theirs, &created).await;
    refused(ours, &created[1]).await;
    refused(theirs, &created[0]).await;

    // What one server gave, the other takes back, and gives again.
    for (index, service) in created.iter().enumerate() {
        let other = if index % 2 == 0 { theirs } else { ours };
        let name = service["metadata"]["name"].as_str().unwrap();
        other.delete(&format!("{SERVICES}/{name}")).await;
        let code = ours.code(&format!("{ADDRESSES}/{}", address(service))).await;
        assert_eq!(code, 404, "the address of {name} is free");
    }
    taken_again(ours, theirs, &created[0], round).await;
    taken_again(theirs, ours, &created[1], round).await;
    added_range(ours, theirs, round).await;
    added_range(theirs, ours, round).await;
}

/// Each address is an object that refers to its service.
async fn belong(ours: &Api, theirs: &Api, services: &[Value]) {
    for service in services {
        let path = format!("{ADDRESSES}/{}", address(service));
        let (here, there) = (ours.get(&path).await, theirs.get(&path).await);
        assert_eq!(here, there);
        assert_eq!(here["spec"]["parentRef"]["name"], service["metadata"]["name"]);
    }
}

/// A server does not give what a service of the other has.
async fn refused(server: &Api, service: &Value) {
    let mut wants_address = balanced("wants");
    wants_address["spec"]["clusterIP"] = service["spec"]["clusterIP"].clone();
    let mut wants_port = balanced("wants");
    wants_port["spec"]["ports"][0]["nodePort"] = service["spec"]["healthCheckNodePort"].clone();
    for (wanted, why) in
        [(wants_address, "provided IP is already allocated"), (wants_port, "provided port is already allocated")]
    {
        let (code, answer) = server.ask(Method::POST, SERVICES, "application/json", Some(&wanted)).await;
        let message = answer["message"].as_str().unwrap_or_default();
        assert!(code == 422 && message.contains(why), "{}: {code} {answer}", server.name);
    }
}

/// What was freed can be had again, by name and by a change of a service of the other server.
async fn taken_again(one: &Api, other: &Api, freed: &Value, round: &str) {
    let name = format!("{round}-again-{}", one.name);
    let mut wanted = balanced(&name);
    wanted["spec"]["clusterIP"] = freed["spec"]["clusterIP"].clone();
    // A port that is not asked for is given first, and could be the one that is asked for for health checks.
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

/// A range that one server is told of, the other gives addresses of.
async fn added_range(one: &Api, other: &Api, round: &str) {
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
    let mut service = balanced(&format!("{name}-far"));
    service["spec"]["clusterIP"] = wanted.as_str().into();
    let begin = std::time::Instant::now();
    loop {
        let (code, answer) = other.ask(Method::POST, SERVICES, "application/json", Some(&service)).await;
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
