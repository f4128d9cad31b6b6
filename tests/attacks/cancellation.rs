//! Clients that reset their requests.
//!
//! A write that has begun completes. Its reservations belong to a stored object or are released.
//! `ATTACK_RESETS` sets the number of reset writes in each test.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use crate::support::{ADMIN, JSON, JSON_PATCH, MERGE_PATCH, Target, answer, http_client, token};

/// Number of writes that each test resets.
const RESETS: u64 = 240;
/// Number of clients that reset writes concurrently.
const CLIENTS: u64 = 4;
/// Node ports available to the services of the test.
const NODE_PORTS: std::ops::RangeInclusive<i64> = 31000..=31019;
/// Addresses of 10.96.0.0/26 without the first and the last one.
const ADDRESSES: usize = 62;

fn resets() -> u64 {
    std::env::var("ATTACK_RESETS").ok().and_then(|text| text.parse().ok()).unwrap_or(RESETS)
}

/// Reproducible pseudo-random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// A client that resets requests: streams of one HTTP/2 connection, or HTTP/1 connections.
struct ResettingClient {
    url: String,
    clients: [Client; 2],
    random: Random,
    /// Typical duration of a write, in microseconds.
    usual_duration_us: u64,
    answered: Arc<AtomicU64>,
}

impl ResettingClient {
    fn request(&mut self, method: Method, path: &str, body: Option<(&str, Value)>) -> RequestBuilder {
        let client = &self.clients[usize::from(self.random.below(4) == 0)];
        let request = client.request(method, format!("{}{path}", self.url)).bearer_auth(token(ADMIN));
        match body {
            Some((media_type, body)) => request.header("Content-Type", media_type).body(body.to_string()),
            None => request,
        }
    }

    /// Sends a write and resets it before, during or shortly after its typical duration.
    async fn reset(&mut self, method: Method, path: &str, body: Option<(&str, Value)>) {
        let request = self.request(method, path, body);
        let moment = Duration::from_micros(self.random.below(self.usual_duration_us + self.usual_duration_us / 2));
        if tokio::time::timeout(moment, request.send()).await.is_ok() {
            self.answered.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Runs `write` for each reset, on several clients concurrently.
async fn attack<F: Future<Output = ResettingClient> + Send + 'static>(
    target: &Target,
    write: impl Fn(ResettingClient, u64, u64) -> F + Clone + Send + 'static,
) {
    let usual_duration_us = usual_duration(target).await;
    let answered = Arc::new(AtomicU64::new(0));
    let mut clients = Vec::new();
    for number in 0..CLIENTS {
        let clients_of = [http_client(&target.server), http_client(&target.server).http1_only()];
        let mut client = ResettingClient {
            url: target.server.url.clone(),
            clients: clients_of.map(|builder| builder.build().unwrap()),
            random: Random(number),
            usual_duration_us,
            answered: answered.clone(),
        };
        let write = write.clone();
        clients.push(tokio::spawn(async move {
            for round in 0..resets() / CLIENTS {
                client = write(client, number, round).await;
            }
        }));
    }
    for client in clients {
        client.await.unwrap();
    }
    let answered = answered.load(Ordering::Relaxed);
    println!("{} of {} writes were reset before their answer", resets() - answered, resets());
}

/// Measures the duration of a write on this machine, in microseconds.
async fn usual_duration(target: &Target) -> u64 {
    target.create_namespace("measured").await;
    let begin = Instant::now();
    for number in 0..8 {
        let object = json!({"metadata": {"name": format!("m-{number}")}, "spec": {"ports": [{"port": 80}]}});
        target.create("/api/v1/namespaces/measured/services", &object).await;
    }
    let duration = begin.elapsed() / 8;
    delete_all(target, "/api/v1/namespaces/measured/services").await;
    u64::try_from(duration.as_micros()).unwrap() * 2
}

async fn delete_all(target: &Target, path: &str) {
    let deleted = target.send(ADMIN, Method::DELETE, path, JSON, "").await;
    assert_eq!(deleted.code, 200, "{}", deleted.body);
}

/// Waits until `check` succeeds: writes of disconnected clients may still be running.
async fn eventually<F: Future<Output = Result<(), String>>>(check: impl Fn() -> F) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        match check().await {
            Ok(()) => return,
            Err(why) if Instant::now() > deadline => panic!("{why}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
}

fn items(list: &Value) -> &[Value] {
    list["items"].as_array().map_or(&[], Vec::as_slice)
}

/// Writes a service, over all types and verbs.
async fn write_service(mut client: ResettingClient, number: u64, _round: u64) -> ResettingClient {
    let collection = "/api/v1/namespaces/attacked/services";
    let name = format!("s-{number}-{}", client.random.below(4));
    let object = format!("{collection}/{name}");
    let labels = json!({"client": number.to_string()});
    let ports = json!([{"name": "a", "port": 80}]);
    let types = [
        json!({"type": "ClusterIP", "ports": ports}),
        json!({"type": "NodePort", "ports": ports}),
        json!({"type": "LoadBalancer", "externalTrafficPolicy": "Local", "ports": ports}),
        json!({"type": "ExternalName", "externalName": "example.org"}),
        json!({"clusterIP": "None", "ports": ports}),
    ];
    let spec = types[usize::try_from(client.random.below(5)).unwrap()].clone();
    match client.random.below(12) {
        0..=4 => {
            let body = json!({"metadata": {"name": name, "labels": labels}, "spec": spec});
            client.reset(Method::POST, collection, Some((JSON, body))).await;
        }
        5 => {
            let body = json!({"metadata": {"generateName": "g-", "labels": labels}, "spec": spec});
            client.reset(Method::POST, collection, Some((JSON, body))).await;
        }
        6 => {
            let body = json!({"spec": {"type": "ExternalName", "externalName": "example.org", "clusterIP": null,
                "clusterIPs": null, "ports": null, "ipFamilies": null, "ipFamilyPolicy": null}});
            client.reset(Method::PATCH, &object, Some((MERGE_PATCH, body))).await;
        }
        7 => {
            let body = json!({"spec": {"type": "NodePort", "externalName": null,
                "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]}});
            client.reset(Method::PATCH, &object, Some((MERGE_PATCH, body))).await;
        }
        8 => {
            let body = json!([{"op": "replace", "path": "/spec/type", "value": "ClusterIP"},
                {"op": "replace", "path": "/spec/ports", "value": [{"port": 90}]}]);
            client.reset(Method::PATCH, &object, Some((JSON_PATCH, body))).await;
        }
        9 => {
            let metadata = json!({"name": name, "labels": labels, "finalizers": ["example.org/held"]});
            let finalizers = if client.random.below(2) == 0 { json!({"name": name}) } else { metadata };
            client.reset(Method::PUT, &object, Some((JSON, json!({"metadata": finalizers, "spec": spec})))).await;
        }
        10 => client.reset(Method::DELETE, &object, None).await,
        _ => client.reset(Method::DELETE, &format!("{collection}?labelSelector=client={number}"), None).await,
    }
    client
}

/// Returns the node ports and addresses of all services; an error when two services share one.
fn allocated(services: &Value) -> Result<(BTreeSet<String>, BTreeSet<i64>), String> {
    let (mut addresses, mut node_ports) = (BTreeSet::new(), BTreeSet::new());
    for service in items(services) {
        let spec = &service["spec"];
        for address in spec["clusterIPs"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if address != "None" && !addresses.insert(address.to_owned()) {
                return Err(format!("the address {address} was given twice"));
            }
        }
        let ports = spec["ports"].as_array().into_iter().flatten().map(|port| &port["nodePort"]);
        for port in ports.chain([&spec["healthCheckNodePort"]]).filter_map(Value::as_i64).filter(|port| *port != 0) {
            if !node_ports.insert(port) {
                return Err(format!("the node port {port} was given twice"));
            }
        }
    }
    Ok((addresses, node_ports))
}

/// Checks that exactly the addresses of stored services are allocated.
async fn check_cluster_ips_match_services(target: &Target) -> Result<(), String> {
    let services = target.get(ADMIN, "/api/v1/services").await.body;
    let taken = target.get(ADMIN, "/apis/networking.k8s.io/v1/ipaddresses").await.body;
    let taken: BTreeSet<String> =
        items(&taken).iter().filter_map(|object| object["metadata"]["name"].as_str().map(str::to_owned)).collect();
    let (stored, _) = allocated(&services)?;
    if stored == taken { Ok(()) } else { Err(format!("services have {stored:?}, taken are {taken:?}")) }
}

/// Creates services until the allocator is exhausted; returns their number.
async fn fill(target: &Target, spec: Value, full: &str) -> usize {
    for number in 0.. {
        let object = json!({"metadata": {"name": format!("fill-{number}")}, "spec": spec});
        let path = "/api/v1/namespaces/attacked/services";
        let created = target.send(ADMIN, Method::POST, path, JSON, object.to_string()).await;
        if created.code != 201 {
            assert!(created.body["message"].as_str().unwrap_or_default().contains(full), "{}", created.body);
            return number;
        }
    }
    0
}

/// Removes all services of the attacked namespace, including those with finalizers.
async fn remove_services(target: &Target) {
    let path = "/api/v1/namespaces/attacked/services";
    let services = target.get(ADMIN, path).await.body;
    for service in items(&services).iter().filter(|service| !service["metadata"]["finalizers"].is_null()) {
        let object = format!("{path}/{}", service["metadata"]["name"].as_str().unwrap());
        let body = json!({"metadata": {"finalizers": null}}).to_string();
        target.send(ADMIN, Method::PATCH, &object, MERGE_PATCH, body).await;
    }
    delete_all(target, path).await;
}

/// Finding B9.
#[tokio::test(flavor = "multi_thread")]
async fn reset_service_writes_leak_no_cluster_ip_or_node_port() {
    let ports = format!("--service-node-port-range={}-{}", NODE_PORTS.start(), NODE_PORTS.end());
    let target = Target::start(&["--service-cluster-ip-range=10.96.0.0/26", &ports]);
    target.create_namespace("attacked").await;
    attack(&target, write_service).await;
    eventually(|| check_cluster_ips_match_services(&target)).await;
    remove_services(&target).await;
    eventually(|| check_cluster_ips_match_services(&target)).await;
    let port = json!([{"port": 80}]);
    let full = "failed to allocate a nodePort: range is full";
    let given = fill(&target, json!({"type": "NodePort", "ports": port}), full).await;
    assert_eq!(given, NODE_PORTS.count(), "node ports that are free after all services are gone");
    remove_services(&target).await;
    let full = "failed to allocate a serviceIP for Service";
    let given = fill(&target, json!({"ports": port}), full).await;
    assert_eq!(given, ADDRESSES - 1, "addresses that are free when only the service kubernetes has one");
    check_cluster_ips_match_services(&target).await.unwrap();
    target.assert_alive().await;
}

/// Creates a quota whose status reports no usage.
async fn create_quota(target: &Target, namespace: &str, hard: Value) {
    let path = format!("/api/v1/namespaces/{namespace}/resourcequotas");
    target.create(&path, &json!({"metadata": {"name": "limits"}, "spec": {"hard": hard}})).await;
    let used: serde_json::Map<String, Value> =
        hard.as_object().unwrap().keys().map(|name| (name.clone(), json!("0"))).collect();
    let status = json!({"status": {"hard": hard, "used": used}}).to_string();
    let patched = target.send(ADMIN, Method::PATCH, &format!("{path}/limits/status"), MERGE_PATCH, status).await;
    assert_eq!(patched.code, 200, "{}", patched.body);
}

/// Creates an object that a quota counts; half of the names already exist.
async fn write_counted(mut client: ResettingClient, _number: u64, round: u64) -> ResettingClient {
    let name = format!("o-{}", client.random.below(2 + round * CLIENTS));
    let metadata = json!({"name": name});
    if client.random.below(2) == 0 {
        let spec = json!({"automountServiceAccountToken": false, "containers": [{"name": "c", "image": "i"}]});
        let body = json!({"metadata": metadata, "spec": spec});
        client.reset(Method::POST, "/api/v1/namespaces/counted/pods", Some((JSON, body))).await;
    } else {
        let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
        let body = json!({"metadata": metadata, "spec": spec});
        client.reset(Method::POST, "/api/v1/namespaces/counted/persistentvolumeclaims", Some((JSON, body))).await;
    }
    client
}

/// Checks that the reported quota usage equals the stored objects.
async fn check_quota_usage_matches_objects(target: &Target) -> Result<(), String> {
    let count = async |plural: &str| {
        let list = target.get(ADMIN, &format!("/api/v1/namespaces/counted/{plural}")).await.body;
        items(&list).len()
    };
    let (pods, claims) = (count("pods").await, count("persistentvolumeclaims").await);
    let quota = target.get(ADMIN, "/api/v1/namespaces/counted/resourcequotas/limits").await.body;
    let expected = [
        ("pods", pods.to_string()),
        ("persistentvolumeclaims", claims.to_string()),
        ("requests.storage", if claims == 0 { "0".into() } else { format!("{claims}Gi") }),
    ];
    for (name, stored) in expected {
        let used = quota["status"]["used"][name].as_str().unwrap_or_default();
        if used != stored {
            return Err(format!("{name}: {used} are counted, {stored} are stored"));
        }
    }
    Ok(())
}

/// Finding B9, and the suspected leak of quota usage.
#[tokio::test(flavor = "multi_thread")]
async fn reset_creates_leak_no_quota_usage() {
    let target = Target::start(&[]);
    target.create_namespace("counted").await;
    let hard = json!({"pods": "100000", "persistentvolumeclaims": "100000", "requests.storage": "100000Gi"});
    create_quota(&target, "counted", hard).await;
    attack(&target, write_counted).await;
    eventually(|| check_quota_usage_matches_objects(&target)).await;
    target.assert_alive().await;
}

/// Finding B9: quota usage of a write that is rejected after it was charged.
#[tokio::test(flavor = "multi_thread")]
async fn failed_create_releases_quota_usage() {
    let target = Target::start(&[]);
    target.create_namespace("counted").await;
    create_quota(&target, "counted", json!({"pods": "3"})).await;
    let path = "/api/v1/namespaces/counted/pods";
    let spec = json!({"automountServiceAccountToken": false, "containers": [{"name": "c", "image": "i"}]});
    let pod = json!({"metadata": {"name": "one"}, "spec": spec}).to_string();
    for expect in [201, 409, 409, 409, 409] {
        assert_eq!(target.send(ADMIN, Method::POST, path, JSON, pod.clone()).await.code, expect);
    }
    let quota = target.get(ADMIN, "/api/v1/namespaces/counted/resourcequotas/limits").await.body;
    assert_eq!(quota["status"]["used"]["pods"], "1");
}

/// Evicts one of the pods.
async fn evict(mut client: ResettingClient, number: u64, round: u64) -> ResettingClient {
    let name = format!("p-{}", number + round * CLIENTS);
    let body = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}});
    let path = format!("/api/v1/namespaces/evicted/pods/{name}/eviction");
    client.reset(Method::POST, &path, Some((JSON, body))).await;
    client
}

/// Creates running pods, and a disruption budget that allows the eviction of three quarters of
/// them.
async fn create_budget(target: &Target, pods: u64) {
    target.create_namespace("evicted").await;
    for number in 0..pods {
        let name = format!("p-{number}");
        let spec = json!({"automountServiceAccountToken": false, "containers": [{"name": "c", "image": "i"}]});
        let pod = json!({"metadata": {"name": name, "labels": {"app": "a"}}, "spec": spec});
        target.create("/api/v1/namespaces/evicted/pods", &pod).await;
        let status = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
        let path = format!("/api/v1/namespaces/evicted/pods/{name}/status");
        assert_eq!(target.send(ADMIN, Method::PATCH, &path, MERGE_PATCH, status.to_string()).await.code, 200);
    }
    let path = "/apis/policy/v1/namespaces/evicted/poddisruptionbudgets";
    let spec = json!({"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}});
    target.create(path, &json!({"metadata": {"name": "budget"}, "spec": spec})).await;
    let status = json!({"status": {"observedGeneration": 1, "disruptionsAllowed": pods * 3 / 4,
        "currentHealthy": pods, "desiredHealthy": 1, "expectedPods": pods}});
    let path = format!("{path}/budget/status");
    let patched = target.send(ADMIN, Method::PATCH, &path, MERGE_PATCH, status.to_string()).await;
    assert_eq!(patched.code, 200, "{}", patched.body);
}

/// Checks that the budget counts one disruption for each evicted pod.
async fn check_budget_matches_evictions(target: &Target, pods: u64) -> Result<(), String> {
    let left = target.get(ADMIN, "/api/v1/namespaces/evicted/pods").await.body;
    let gone = pods - items(&left).len() as u64;
    let budget = target.get(ADMIN, "/apis/policy/v1/namespaces/evicted/poddisruptionbudgets/budget").await.body;
    let status = &budget["status"];
    let spent = pods * 3 / 4 - status["disruptionsAllowed"].as_u64().unwrap_or_default();
    let named = status["disruptedPods"].as_object().map_or(0, serde_json::Map::len) as u64;
    if (spent, named) == (gone, gone) {
        Ok(())
    } else {
        Err(format!("{gone} pods are gone, {spent} disruptions are spent, {named} pods are named as disrupted"))
    }
}

/// Finding B9, for disruption budgets.
#[tokio::test(flavor = "multi_thread")]
async fn reset_evictions_count_disruptions_only_for_evicted_pods() {
    let target = Target::start(&[]);
    // A disruption budget lists at most 2,000 pods in its status.
    let pods = resets().min(2000);
    create_budget(&target, pods).await;
    attack(&target, evict).await;
    eventually(|| check_budget_matches_evictions(&target, pods)).await;
    target.assert_alive().await;
}

/// Control: the same requests succeed when they are not reset.
#[tokio::test(flavor = "multi_thread")]
async fn writes_without_resets_are_answered() {
    let target = Target::start(&[]);
    target.create_namespace("attacked").await;
    let spec = json!({"type": "LoadBalancer", "externalTrafficPolicy": "Local", "ports": [{"port": 80}]});
    let service = json!({"metadata": {"name": "s"}, "spec": spec}).to_string();
    let request = target.request(ADMIN, Method::POST, "/api/v1/namespaces/attacked/services");
    assert_eq!(answer(request.header("Content-Type", JSON).body(service)).await.code, 201);
    delete_all(&target, "/api/v1/namespaces/attacked/services").await;
}
