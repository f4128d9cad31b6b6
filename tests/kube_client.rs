//! The `kube` crate's client against the running server: typical operations of controllers in Rust.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "common/client.rs"]
mod client;
mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use common::Server;
use futures_util::{StreamExt, TryStreamExt};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Event};
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::runtime::reflector::{self, ObjectRef};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, ResourceExt};

/// Maximum time that a test waits for an event.
const TIMEOUT: Duration = Duration::from_secs(60);

fn config_map(name: &str, step: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta { name: Some(name.into()), labels: Some(labels("test")), ..ObjectMeta::default() },
        data: Some(BTreeMap::from([("step".to_string(), step.to_string())])),
        ..ConfigMap::default()
    }
}

fn labels(app: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("app".to_string(), app.to_string())])
}

fn deployment() -> Deployment {
    serde_json::from_value(serde_json::json!({
        "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "nginx", "image": "nginx"}]},
            },
        },
    }))
    .unwrap()
}

fn step(map: &ConfigMap) -> &str {
    map.data.as_ref().and_then(|d| d.get("step")).map_or("", String::as_str)
}

async fn start() -> (Server, Client) {
    let server = Server::start();
    let client = client::connect(&server).await;
    (server, client)
}

#[tokio::test]
async fn server_is_ready_and_reports_its_version() {
    let (server, client) = start().await;
    let request = http::Request::get("/readyz").body(Vec::new()).unwrap();
    assert_eq!(client.request_text(request).await.unwrap(), "ok");
    assert_eq!(client.apiserver_version().await.unwrap().minor, "36");
    drop(server);
}

#[tokio::test]
async fn typed_objects_are_created_read_updated_and_deleted() {
    let (_server, client) = start().await;
    let api: Api<Deployment> = Api::namespaced(client, "default");

    let created = api.create(&PostParams::default(), &deployment()).await.unwrap();
    let spec = created.spec.as_ref().unwrap();
    assert_eq!(
        (spec.replicas, spec.progress_deadline_seconds, created.metadata.generation),
        (Some(1), Some(600), Some(1))
    );
    let again = api.create(&PostParams::default(), &deployment()).await.unwrap_err();
    assert_eq!(reason(&again), "AlreadyExists");

    let mut changed = created.clone();
    changed.spec.as_mut().unwrap().replicas = Some(3);
    let changed = api.replace("web", &PostParams::default(), &changed).await.unwrap();
    assert_eq!(changed.metadata.generation, Some(2));
    let stale = api.replace("web", &PostParams::default(), &created).await.unwrap_err();
    assert_eq!(reason(&stale), "Conflict");

    let patch = serde_json::json!({"status": {"observedGeneration": 2, "replicas": 3}});
    let patched = api.patch_status("web", &PatchParams::default(), &Patch::Merge(&patch)).await.unwrap();
    assert_eq!((patched.status.unwrap().replicas, patched.spec.unwrap().replicas), (Some(3), Some(3)));

    let scale = api.get_scale("web").await.unwrap();
    assert_eq!(scale.spec.unwrap().replicas, Some(3));
    assert_eq!(api.list(&ListParams::default()).await.unwrap().items.len(), 1);
    api.delete("web", &DeleteParams::background()).await.unwrap();
    assert_eq!(api.get_opt("web").await.unwrap(), None);
}

fn reason(error: &kube::Error) -> &str {
    match error {
        kube::Error::Api(status) => &status.reason,
        other => panic!("not a Status: {other}"),
    }
}

#[tokio::test]
async fn lists_support_pages_and_selectors() {
    let (_server, client) = start().await;
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    for i in 0..5 {
        api.create(&PostParams::default(), &config_map(&format!("map-{i}"), "0")).await.unwrap();
    }
    let mut params = ListParams::default().labels("app=test").limit(2);
    let mut names = Vec::new();
    loop {
        let page = api.list(&params).await.unwrap();
        assert!(page.items.len() <= 2);
        names.extend(page.items.iter().map(ResourceExt::name_any));
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => break,
        }
    }
    assert_eq!(names, ["map-0", "map-1", "map-2", "map-3", "map-4"]);
    let one = api.list(&ListParams::default().fields("metadata.name=map-3")).await.unwrap();
    assert_eq!(one.items.len(), 1);

    let request = http::Request::get("/metrics").body(Vec::new()).unwrap();
    let metrics = client.request_text(request).await.unwrap();
    let of = "{group=\"\",resource=\"configmaps\"}";
    for line in [
        &format!("apiserver_watch_cache_events_dispatched_total{of} "),
        &format!("apiserver_watch_cache_resource_version{of} "),
        &format!("apiserver_cache_list_returned_objects_total{of} "),
        "apiserver_cache_list_total{group=\"\",index=\"\",resource=\"configmaps\"} ",
        "apiserver_cache_list_fetched_objects_total{group=\"\",index=\"\",resource=\"configmaps\"} ",
    ] {
        assert!(metrics.contains(line), "{line}");
    }
}

#[tokio::test]
async fn watch_starts_at_resource_version() {
    let (_server, client) = start().await;
    let api: Api<ConfigMap> = Api::namespaced(client, "default");
    let since = api.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    api.create(&PostParams::default(), &config_map("seen", "0")).await.unwrap();
    let patch = serde_json::json!({"data": {"step": "1"}});
    api.patch("seen", &PatchParams::default(), &Patch::Merge(&patch)).await.unwrap();
    api.delete("seen", &DeleteParams::default()).await.unwrap();

    let params = WatchParams::default().labels("app=test").timeout(60);
    let mut events = api.watch(&params, &since).await.unwrap().boxed();
    let mut seen = Vec::new();
    while seen.len() < 3 {
        let event = tokio::time::timeout(TIMEOUT, events.try_next()).await.unwrap().unwrap().unwrap();
        match event {
            WatchEvent::Added(map) => seen.push(format!("added {}", step(&map))),
            WatchEvent::Modified(map) => seen.push(format!("modified {}", step(&map))),
            WatchEvent::Deleted(map) => seen.push(format!("deleted {}", step(&map))),
            WatchEvent::Bookmark(_) => {}
            WatchEvent::Error(status) => panic!("{status}"),
        }
    }
    assert_eq!(seen, ["added 0", "modified 1", "deleted 1"]);
}

#[tokio::test]
async fn reflector_follows_changes() {
    let (_server, client) = start().await;
    let api: Api<ConfigMap> = Api::namespaced(client, "default");
    api.create(&PostParams::default(), &config_map("before", "0")).await.unwrap();

    let (store, writer) = reflector::store();
    let config = watcher::Config::default().labels("app=test");
    let mut objects = watcher(api.clone(), config).reflect(writer).applied_objects().boxed();
    let next = async |objects: &mut futures_util::stream::BoxStream<'_, _>| -> ConfigMap {
        tokio::time::timeout(TIMEOUT, objects.try_next()).await.unwrap().unwrap().unwrap()
    };
    assert_eq!(next(&mut objects).await.name_any(), "before");
    api.create(&PostParams::default(), &config_map("after", "1")).await.unwrap();
    assert_eq!(next(&mut objects).await.name_any(), "after");
    let patch = serde_json::json!({"data": {"step": "2"}});
    api.patch("before", &PatchParams::default(), &Patch::Merge(&patch)).await.unwrap();
    assert_eq!(next(&mut objects).await.name_any(), "before");

    let stored = |name: &str| store.get(&ObjectRef::new(name).within("default")).unwrap();
    assert_eq!((step(&stored("before")), step(&stored("after")), store.len()), ("2", "1", 2));
}

#[tokio::test]
async fn events_expire() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_with(folder.path(), &["--event-ttl=1s"]);
    let api: Api<Event> = Api::namespaced(client::connect(&server).await, "default");
    let event: Event = serde_json::from_value(serde_json::json!({
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
    }))
    .unwrap();
    let version = api.create(&PostParams::default(), &event).await.unwrap().resource_version().unwrap();
    let events = api.watch(&WatchParams::default(), &version).await.unwrap();
    let mut events = std::pin::pin!(events);
    let next = tokio::time::timeout(TIMEOUT, events.try_next()).await.expect("the event stays").unwrap();
    assert!(matches!(next, Some(WatchEvent::Deleted(gone)) if gone.name_any() == "e"));
}

#[tokio::test]
async fn reads_decode_no_stored_objects() {
    let (_server, client) = start().await;
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), "default");
    let created = deployments.create(&PostParams::default(), &deployment()).await.unwrap();
    let decoded = async || -> u64 {
        let text = client.request_text(http::Request::get("/metrics").body(Vec::new()).unwrap()).await.unwrap();
        let name = r#"apiserver_storage_decoded_objects_total{group="apps",resource="deployments"} "#;
        text.lines().find_map(|line| line.strip_prefix(name)).unwrap().parse().unwrap()
    };
    let before = decoded().await;
    for _ in 0..3 {
        assert_eq!(deployments.get("web").await.unwrap(), created);
        assert_eq!(deployments.get_metadata("web").await.unwrap().metadata, created.metadata);
        assert_eq!(deployments.list(&ListParams::default()).await.unwrap().items.len(), 1);
    }
    assert_eq!(decoded().await, before);
    deployments.replace("web", &PostParams::default(), &created).await.unwrap();
    assert!(decoded().await > before, "a write reads what it replaces");
}
