//! The whole program on each store: snapshots between stores, and several servers on one etcd.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "common/client.rs"]
mod client;
mod common;
#[path = "../server/storage/tests/etcd_server/mod.rs"]
mod etcd_server;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use common::{Outcome, PROGRAM, Server};
use etcd_server::EtcdServer;
use futures_util::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Endpoints, Service, ServicePort, ServiceSpec};
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use needs::needs;

fn snapshot(verb: &str, file: &Path, flags: &[&str]) -> Outcome {
    common::run(Command::new(PROGRAM).arg("snapshot").arg(verb).arg(file).args(flags), b"")
}

#[track_caller]
fn stdout_of_success(outcome: &Outcome) -> &str {
    assert!(outcome.ok, "{}", outcome.stderr);
    &outcome.stdout
}

async fn config_maps(server: &Server) -> Api<ConfigMap> {
    Api::namespaced(client::connect(server).await, "default")
}

fn config_map(name: &str) -> ConfigMap {
    ConfigMap { metadata: ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() }, ..ConfigMap::default() }
}

/// Returns names and resource versions of all config maps.
async fn versions(server: &Server) -> BTreeMap<String, u64> {
    let list = config_maps(server).await.list(&ListParams::default()).await.unwrap();
    let version = |meta: ObjectMeta| (meta.name.unwrap(), meta.resource_version.unwrap().parse().unwrap());
    list.items.into_iter().map(|map| version(map.metadata)).collect()
}

#[needs(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn snapshot_of_running_server_restores_on_another_store() {
    let folder = tempfile::tempdir().unwrap();
    let (file, data) = (folder.path().join("snapshot"), |name: &str| folder.path().join(name).join("data"));
    let flag = |name: &str| format!("--data-dir={}", data(name).display());
    let server = Server::start_in(&folder.path().join("one"));
    config_maps(&server).await.create(&PostParams::default(), &config_map("a")).await.unwrap();
    stdout_of_success(&snapshot("save", &file, &[&flag("one")]));
    let before = versions(&server).await;
    config_maps(&server).await.create(&PostParams::default(), &config_map("later")).await.unwrap();

    let status: serde_json::Value =
        serde_json::from_str(stdout_of_success(&snapshot("status", &file, &["-o", "json"]))).unwrap();
    assert!(status["keys"].as_u64().unwrap() > 1 && status["revision"].as_u64().unwrap() >= before["a"], "{status}");
    let refused = snapshot("restore", &file, &[&flag("one")]);
    assert!(refused.stderr.contains("already holds a store"), "{}", refused.stderr);
    stdout_of_success(&snapshot("restore", &file, &[&flag("two")]));
    assert_eq!(versions(&Server::start_in(&folder.path().join("two"))).await, before);

    let etcd = EtcdServer::start();
    let servers = format!("--etcd-servers={}", etcd.url);
    stdout_of_success(&snapshot("restore", &file, &[&servers]));
    let refused = snapshot("restore", &file, &[&servers]);
    assert!(refused.stderr.contains("already holds a store"), "{}", refused.stderr);
    let on_etcd = Server::start_with(&folder.path().join("three"), &[&servers]);
    let moved = versions(&on_etcd).await;
    assert!(moved.keys().eq(before.keys()));
    config_maps(&on_etcd).await.create(&PostParams::default(), &config_map("on-etcd")).await.unwrap();
    let now = versions(&on_etcd).await;
    assert!(now["on-etcd"] > status["revision"].as_u64().unwrap(), "revisions go on after those of the snapshot");
    stdout_of_success(&snapshot("save", &file, &[&servers]));
    stdout_of_success(&snapshot("restore", &file, &[&flag("four")]));
    assert_eq!(versions(&Server::start_in(&folder.path().join("four"))).await, now);
}

#[needs(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_on_one_etcd_read_each_others_writes() {
    let etcd = EtcdServer::start();
    let folder = tempfile::tempdir().unwrap();
    let flags = [&*format!("--etcd-servers={}", etcd.url)];
    let one = Server::start_with(&folder.path().join("one"), &flags);
    let two = Server::start_with(&folder.path().join("two"), &flags);
    let (maps, others) = (config_maps(&one).await, config_maps(&two).await);
    let created = maps.create(&PostParams::default(), &config_map("a")).await.unwrap();
    assert_eq!(others.get("a").await.unwrap(), created);
    let mut watch = others
        .watch(&WatchParams::default(), created.metadata.resource_version.as_deref().unwrap())
        .await
        .unwrap()
        .boxed();
    // Writes outside of the prefix increase the revision, too; consistent reads must not wait for
    // an event of that revision.
    etcd.post("/v3/kv/put", r#"{"key": "YQ==", "value": "YQ=="}"#);
    assert_eq!(others.get("a").await.unwrap().metadata.resource_version, created.metadata.resource_version);
    let patch = Patch::Merge(serde_json::json!({"data": {"key": "value"}}));
    let patched = maps.patch("a", &PatchParams::default(), &patch).await.unwrap();
    match watch.next().await.unwrap().unwrap() {
        WatchEvent::Modified(seen) => assert_eq!(seen, patched),
        other => panic!("{other:?}"),
    }
    one.kill();
    others.create(&PostParams::default(), &config_map("b")).await.unwrap();
    assert!(matches!(watch.next().await.unwrap().unwrap(), WatchEvent::Added(_)));
}

#[needs(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubernetes_service_lists_all_running_servers() {
    let etcd = EtcdServer::start();
    let folder = tempfile::tempdir().unwrap();
    let store = format!("--etcd-servers={}", etcd.url);
    let server = |address: &str| {
        let flags = [&*store, &*format!("--advertise-address={address}")];
        Server::start_with(&folder.path().join(address), &flags)
    };
    let (one, two) = (server("10.0.0.1"), server("10.0.0.2"));
    let service: Api<Endpoints> = Api::namespaced(client::connect(&one).await, "default");
    let until = async |expected: &[&str]| {
        loop {
            let endpoints = service.get("kubernetes").await.unwrap();
            let subsets = endpoints.subsets.unwrap_or_default().into_iter();
            let addresses: Vec<_> = subsets.flat_map(|s| s.addresses.unwrap_or_default()).map(|a| a.ip).collect();
            if addresses == expected {
                break;
            }
        }
    };
    until(&["10.0.0.1", "10.0.0.2"]).await;
    assert!(two.stop());
    until(&["10.0.0.1"]).await;
}

fn node_port_service(name: &str) -> Service {
    let port = ServicePort { port: 80, ..ServicePort::default() };
    let spec = ServiceSpec { type_: Some("NodePort".into()), ports: Some(vec![port]), ..ServiceSpec::default() };
    let metadata = ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() };
    Service { metadata, spec: Some(spec), ..Service::default() }
}

fn node_port(service: Service) -> i32 {
    service.spec.and_then(|spec| spec.ports?.first()?.node_port).unwrap()
}

/// Returns the allocated ports shared by the servers of this etcd; checks the range.
fn allocated_ports(etcd: &EtcdServer) -> u32 {
    let answer = etcd.post("/v3/kv/range", r#"{"key": "L3JlZ2lzdHJ5L3Jhbmdlcy9zZXJ2aWNlbm9kZXBvcnRz"}"#);
    let json = &answer[answer.find('{').unwrap()..=answer.rfind('}').unwrap()];
    let found: serde_json::Value = serde_json::from_str(json).unwrap();
    let value = BASE64.decode(found["kvs"][0]["value"].as_str().unwrap()).unwrap();
    // The encoding of kube-apiserver for this range: the field `data` has number 3.
    let range = b"30000-30039\x1a";
    let at = value.windows(range.len()).position(|bytes| bytes == range).expect("a RangeAllocation") + range.len();
    assert!(value.starts_with(b"k8s\0"), "{value:?}");
    let length = usize::from(value[at]);
    value[at + 1..=at + length].iter().map(|byte| byte.count_ones()).sum()
}

#[needs(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_on_one_etcd_allocate_distinct_node_ports() {
    let etcd = EtcdServer::start();
    let folder = tempfile::tempdir().unwrap();
    let flags = [&*format!("--etcd-servers={}", etcd.url), "--service-node-port-range=30000-30039"];
    let one = Server::start_with(&folder.path().join("one"), &flags);
    let two = Server::start_with(&folder.path().join("two"), &flags);
    let services: [Api<Service>; 2] = [
        Api::namespaced(client::connect(&one).await, "default"),
        Api::namespaced(client::connect(&two).await, "default"),
    ];
    // All ports of the range, half of them concurrently from each server.
    let create = async |index: usize| {
        services[index % 2].create(&PostParams::default(), &node_port_service(&format!("s{index}"))).await
    };
    let created = futures_util::future::join_all((0..40).map(create)).await;
    let ports: BTreeSet<i32> = created.into_iter().map(|service| node_port(service.unwrap())).collect();
    assert_eq!(ports, (30000..30040).collect(), "40 services have 40 ports");
    assert_eq!(allocated_ports(&etcd), 40);
    for services in &services {
        let refused = services.create(&PostParams::default(), &node_port_service("more")).await.unwrap_err();
        assert!(refused.to_string().contains("failed to allocate a nodePort: range is full"), "{refused}");
    }
    // A port released by one server can be allocated by the other one.
    let freed = node_port(services[1].get("s7").await.unwrap());
    services[0].delete("s7", &DeleteParams::default()).await.unwrap();
    assert_eq!(allocated_ports(&etcd), 39);
    let again = services[1].create(&PostParams::default(), &node_port_service("again")).await.unwrap();
    assert_eq!(node_port(again), freed);
    // A restart reads the allocation, and registers a service that lacks one.
    drop(one);
    etcd.post("/v3/kv/deleterange", r#"{"key": "L3JlZ2lzdHJ5L3Jhbmdlcy9zZXJ2aWNlbm9kZXBvcnRz"}"#);
    let refused = services[1].delete("s8", &DeleteParams::default()).await;
    assert!(refused.is_ok(), "an allocation that cannot be released is left to the repair");
    let _three = Server::start_with(&folder.path().join("three"), &flags);
    assert_eq!(allocated_ports(&etcd), 39);
}
