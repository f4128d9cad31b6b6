//! Everything that the server acknowledged is there after `kill -9` under a write load.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "common/client.rs"]
mod client;
mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::Server;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, PostParams};
use tokio::sync::mpsc;

const CYCLES: usize = 20;
const WRITERS: usize = 16;
/// The server dies once so many writes of a cycle are acknowledged, while others are under way.
const ACKNOWLEDGED: usize = 100;

/// What a writer was told: the object's value, or that it is deleted.
type Acknowledged = (String, Option<String>);

/// What each name has to hold: the last acknowledged state, or the one that was asked for when the server died.
#[derive(Default)]
struct Expected(BTreeMap<String, Option<String>>);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_writes_survive_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let mut expected = Expected::default();
    for cycle in 0..CYCLES {
        let server = Server::start_in(folder.path());
        let client = client::connect(&server).await;
        expected.check(&client, cycle).await;
        let (sender, mut acknowledged) = mpsc::unbounded_channel();
        let writers: Vec<_> =
            (0..WRITERS).map(|w| tokio::spawn(write(client.clone(), cycle, w, sender.clone()))).collect();
        drop(sender);
        for _ in 0..ACKNOWLEDGED {
            expected.note(acknowledged.recv().await.unwrap());
        }
        server.kill();
        // Writers end at the first error; what was acknowledged until then counts too.
        while let Some(write) = acknowledged.recv().await {
            expected.note(write);
        }
        for writer in writers {
            expected.in_doubt(writer.await.unwrap());
        }
    }
    let server = Server::start_in(folder.path());
    expected.check(&client::connect(&server).await, CYCLES).await;
}

/// Creates, replaces and deletes objects of its own until the server is gone; the name whose outcome is unknown.
async fn write(client: Client, cycle: usize, writer: usize, sender: mpsc::UnboundedSender<Acknowledged>) -> Arc<str> {
    let api: Api<ConfigMap> = Api::namespaced(client, "default");
    for i in 0.. {
        let name: Arc<str> = format!("c{cycle}-w{writer}-{i}").into();
        if step(&api, &name, &sender).await.is_err() {
            return name;
        }
    }
    unreachable!("the server dies first")
}

async fn step(api: &Api<ConfigMap>, name: &str, sender: &mpsc::UnboundedSender<Acknowledged>) -> kube::Result<()> {
    let mut map = api.create(&PostParams::default(), &config_map(name, "created")).await?;
    sender.send((name.into(), Some("created".into()))).unwrap();
    map.data = Some(BTreeMap::from([("value".into(), "replaced".into())]));
    api.replace(name, &PostParams::default(), &map).await?;
    sender.send((name.into(), Some("replaced".into()))).unwrap();
    if name.ends_with('3') {
        api.delete(name, &DeleteParams::default()).await?;
        sender.send((name.into(), None)).unwrap();
    }
    Ok(())
}

fn config_map(name: &str, value: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() },
        data: Some(BTreeMap::from([("value".into(), value.into())])),
        ..ConfigMap::default()
    }
}

impl Expected {
    fn note(&mut self, (name, value): Acknowledged) {
        self.0.insert(name, value);
    }

    /// The write that was under way when the server died may have happened or not. What came before it must be there: a replacement
    /// or deletion in doubt leaves the object in one of two states, and both come after `created`.
    fn in_doubt(&mut self, name: Arc<str>) {
        match self.0.get(&*name) {
            None => {}
            Some(Some(value)) if value == "created" => {
                _ = self.0.insert(name.to_string(), Some("created or replaced".into()))
            }
            Some(_) => _ = self.0.remove(&*name),
        }
    }

    async fn check(&self, client: &Client, cycle: usize) {
        let api: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
        let list = api.list(&ListParams::default()).await.unwrap();
        let mut stored = BTreeMap::new();
        for map in list.items {
            let value = map.data.and_then(|mut data| data.remove("value")).unwrap_or_default();
            stored.insert(map.metadata.name.unwrap(), value);
        }
        for (name, value) in &self.0 {
            let found = stored.get(name);
            let same = match (value.as_deref(), found.map(String::as_str)) {
                (Some("created or replaced"), Some(found)) => found == "created" || found == "replaced",
                (want, found) => want == found,
            };
            assert!(same, "before cycle {cycle}: {name} was acknowledged as {value:?} and is {found:?}");
        }
    }
}
