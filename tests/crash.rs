//! AcknowledgedWrite writes survive `kill -9` under a write load.
//!
//! A watcher that reconnects across the crashes sees every change once and in order. `CRASH_CYCLES`
//! sets the number of crashes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "common/client.rs"]
mod client;
mod common;
#[path = "../server/storage/tests/etcd_server/mod.rs"]
mod etcd_server;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::Server;
use etcd_server::EtcdServer;
use futures_util::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, PostParams, WatchEvent, WatchParams};
use needs::needs;
use tokio::sync::mpsc;

const WRITERS: usize = 16;
/// Number of acknowledged writes in a cycle before the server is killed; others are in flight.
const WRITES_BEFORE_KILL: usize = 100;

/// An acknowledged write: the object's value and version, or none for a deletion.
type AcknowledgedWrite = (String, Option<(String, u64)>);

/// The possible states of each name: the last acknowledged one, or the one in flight when the
/// server was killed.
#[derive(Default)]
struct Expected {
    present: BTreeMap<String, Option<String>>,
    /// Every acknowledged version, with the object's name and value.
    versions: BTreeMap<u64, (String, String)>,
}

/// Observed events by version: the object's name and its value, or none for a deletion.
#[derive(Default)]
struct ObservedEvents(BTreeMap<u64, (String, Option<String>)>);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_writes_survive_kill_9() {
    run_cycles(&[], || {}).await;
}

#[needs(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_writes_survive_kill_9_of_the_server_and_its_etcd() {
    let mut etcd = EtcdServer::start();
    let flag = format!("--etcd-servers={}", etcd.url);
    run_cycles(&[&flag], || {
        etcd.kill();
        etcd.restart();
    })
    .await;
}

/// Kills and restarts the server under load; `crash` kills further processes with it.
async fn run_cycles(flags: &[&str], mut crash: impl FnMut()) {
    let folder = tempfile::tempdir().unwrap();
    let (mut expected, mut seen) = (Expected::default(), ObservedEvents::default());
    let mut last = None;
    for cycle in 0..cycles() {
        let server = Server::start_with(folder.path(), flags);
        let client = client::connect(&server).await;
        let from = expected.check(&client, cycle).await;
        let watcher = tokio::spawn(watch(client.clone(), last.unwrap_or(from), seen));
        let (sender, mut acknowledged) = mpsc::unbounded_channel();
        let writers: Vec<_> =
            (0..WRITERS).map(|w| tokio::spawn(write(client.clone(), cycle, w, sender.clone()))).collect();
        drop(sender);
        for _ in 0..WRITES_BEFORE_KILL {
            expected.record_acknowledged(acknowledged.recv().await.unwrap());
        }
        server.kill();
        crash();
        // Writers stop at the first error; earlier acknowledgements count.
        while let Some(write) = acknowledged.recv().await {
            expected.record_acknowledged(write);
        }
        for writer in writers {
            expected.record_in_flight(writer.await.unwrap());
        }
        seen = watcher.await.unwrap();
        last = Some(seen.last().unwrap_or(from));
    }
    let server = Server::start_with(folder.path(), flags);
    let client = client::connect(&server).await;
    expected.check(&client, cycles()).await;
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    api.create(&PostParams::default(), &config_map(END, "created")).await.unwrap();
    let seen = watch(client.clone(), last.unwrap(), seen).await;
    for (version, (name, value)) in &expected.versions {
        let event = seen.0.get(version).map(|(name, value)| (name, value.as_ref()));
        assert_eq!(event, Some((name, Some(value))), "version {version} was acknowledged");
    }
    assert_eq!(seen.present(), present(&client).await.0, "the observed changes give the current state");
}

fn cycles() -> usize {
    std::env::var("CRASH_CYCLES").map_or(20, |cycles| cycles.parse().unwrap())
}

/// Watches until the server is gone or the object `END` appears.
async fn watch(client: Client, from: u64, mut seen: ObservedEvents) -> ObservedEvents {
    let api: Api<ConfigMap> = Api::namespaced(client, "default");
    let Ok(events) = api.watch(&WatchParams::default().timeout(290), &from.to_string()).await else { return seen };
    let mut events = std::pin::pin!(events);
    while let Some(Ok(event)) = events.next().await {
        let (map, deleted) = match event {
            WatchEvent::Added(map) | WatchEvent::Modified(map) => (map, false),
            WatchEvent::Deleted(map) => (map, true),
            other => panic!("a watch from version {from} got {other:?}"),
        };
        let (name, version, value) = parts(map);
        assert!(seen.last().unwrap_or(from) < version, "version {version} came late or twice");
        let end = name == END;
        seen.0.insert(version, (name, (!deleted).then_some(value)));
        if end {
            break;
        }
    }
    seen
}

/// Name of the last created object.
const END: &str = "the-end";

impl ObservedEvents {
    fn last(&self) -> Option<u64> {
        self.0.keys().next_back().copied()
    }

    /// Returns the state that results from all observed changes.
    fn present(&self) -> BTreeMap<String, String> {
        let mut present = BTreeMap::new();
        for (name, value) in self.0.values() {
            match value {
                Some(value) => _ = present.insert(name.clone(), value.clone()),
                None => _ = present.remove(name),
            }
        }
        present
    }
}

/// Returns name, version and value.
fn parts(map: ConfigMap) -> (String, u64, String) {
    let value = map.data.and_then(|mut data| data.remove("value")).unwrap_or_default();
    (map.metadata.name.unwrap(), map.metadata.resource_version.unwrap().parse().unwrap(), value)
}

/// Returns the objects of the test, without those that the server creates, and the version of the
/// list.
async fn present(client: &Client) -> (BTreeMap<String, String>, u64) {
    let list = Api::<ConfigMap>::namespaced(client.clone(), "default").list(&ListParams::default()).await.unwrap();
    let version = list.metadata.resource_version.unwrap().parse().unwrap();
    let items = list.items.into_iter().map(parts).filter(|(_, _, value)| !value.is_empty());
    (items.map(|(name, _, value)| (name, value)).collect(), version)
}

/// Creates, replaces and deletes objects with unique names until the server is gone; returns the
/// name of the write with an unknown outcome.
async fn write(
    client: Client,
    cycle: usize,
    writer: usize,
    sender: mpsc::UnboundedSender<AcknowledgedWrite>,
) -> Arc<str> {
    let api: Api<ConfigMap> = Api::namespaced(client, "default");
    for i in 0.. {
        let name: Arc<str> = format!("c{cycle}-w{writer}-{i}").into();
        if step(&api, &name, &sender).await.is_err() {
            return name;
        }
    }
    unreachable!("the server dies first")
}

async fn step(api: &Api<ConfigMap>, name: &str, sender: &mpsc::UnboundedSender<AcknowledgedWrite>) -> kube::Result<()> {
    let mut map = api.create(&PostParams::default(), &config_map(name, "created")).await?;
    sender.send(acknowledged(&map)).unwrap();
    map.data = Some(BTreeMap::from([("value".into(), "replaced".into())]));
    map = api.replace(name, &PostParams::default(), &map).await?;
    sender.send(acknowledged(&map)).unwrap();
    if name.ends_with('3') {
        api.delete(name, &DeleteParams::default()).await?;
        sender.send((name.into(), None)).unwrap();
    }
    Ok(())
}

fn acknowledged(map: &ConfigMap) -> AcknowledgedWrite {
    let (name, version, value) = parts(map.clone());
    (name, Some((value, version)))
}

fn config_map(name: &str, value: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() },
        data: Some(BTreeMap::from([("value".into(), value.into())])),
        ..ConfigMap::default()
    }
}

impl Expected {
    fn record_acknowledged(&mut self, (name, state): AcknowledgedWrite) {
        let value = state.map(|(value, version)| {
            self.versions.insert(version, (name.clone(), value.clone()));
            value
        });
        self.present.insert(name, value);
    }

    /// Records a write that was in flight when the server was killed.
    ///
    /// Its outcome is unknown, but earlier writes must be present: a replacement or deletion in
    /// flight leaves the object in one of two states, and both come after `created`.
    fn record_in_flight(&mut self, name: Arc<str>) {
        match self.present.get(&*name) {
            None => {}
            Some(Some(value)) if value == "created" => {
                _ = self.present.insert(name.to_string(), Some("created or replaced".into()))
            }
            Some(_) => _ = self.present.remove(&*name),
        }
    }

    /// Compares with the stored objects; returns the version of the list.
    async fn check(&self, client: &Client, cycle: usize) -> u64 {
        let (stored, version) = present(client).await;
        for (name, value) in &self.present {
            let found = stored.get(name);
            let same = match (value.as_deref(), found.map(String::as_str)) {
                (Some("created or replaced"), Some(found)) => found == "created" || found == "replaced",
                (want, found) => want == found,
            };
            assert!(same, "before cycle {cycle}: {name} was acknowledged as {value:?} and is {found:?}");
        }
        version
    }
}
