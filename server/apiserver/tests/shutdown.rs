//! The order in which a server stops.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::net::TcpStream;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use apiserver::{
    Admission, AdmissionAttributes, Background, Client, Owned, RunningServer, Server, Status, Store, async_trait,
};
use http::{Method, StatusCode};
use request::Handler;
use serde_json::json;
use serving::shutdown::Shutdown;
use storage::EmbeddedStore;
use tokio::sync::Semaphore;

const MAPS: &str = "/api/v1/namespaces/n/configmaps";
/// The key of the object `slow`.
const SLOW: &[u8] = b"/registry/configmaps/n/slow";
/// How long the test waits for a step.
const DEADLINE: Duration = Duration::from_secs(60);

/// Passes the shutdown signal of the server to the test.
#[derive(Default)]
struct Signal(OnceLock<Shutdown>);

#[async_trait]
impl Background for Signal {
    async fn start(&self, server: RunningServer) -> Arc<dyn Handler> {
        let _ = self.0.set(server.environment.shutdown.clone()); // started once
        server.handler
    }
}

/// Holds a write of the object `slow` until the test adds a permit to `release`.
#[derive(Clone)]
struct Hold {
    /// Has a permit when a write is held.
    begun: Arc<Semaphore>,
    release: Arc<Semaphore>,
}

#[async_trait]
impl Admission for Hold {
    async fn admit(&self, attributes: &AdmissionAttributes, _: &mut Owned, _: Option<&Owned>) -> Result<(), Status> {
        if attributes.name == "slow" {
            self.begun.add_permits(1);
            self.release.acquire().await.map_err(Status::internal)?.forget();
        }
        Ok(())
    }
}

fn hold() -> Hold {
    Hold { begun: Arc::new(Semaphore::new(0)), release: Arc::new(Semaphore::new(0)) }
}

/// Repeats a check until it holds.
async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let begin = Instant::now();
    while !holds().await {
        assert!(begin.elapsed() < DEADLINE, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn post(client: &Client, name: &str) -> StatusCode {
    client.send(Method::POST, MAPS, &json!({ "metadata": { "name": name } })).await.unwrap().0
}

/// Whether a client watches config maps.
async fn is_watched(client: &Client) -> bool {
    let metrics = client.text("/metrics").await.unwrap();
    let is_watch = |line: &&str| line.starts_with("apiserver_longrunning_requests{") && line.contains("\"configmaps\"");
    metrics.lines().filter(is_watch).any(|line| !line.ends_with(" 0"))
}

#[tokio::test(flavor = "multi_thread")]
async fn readiness_fails_first_then_watches_end_then_the_port_closes_then_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(EmbeddedStore::open(folder.path().join("store")).unwrap());
    let (signal, hold) = (Arc::new(Signal::default()), hold());
    let server = Server::delegating("test-server", kubernetes::catalog()).store(store.clone());
    let server = server.background(signal.clone()).admission(hold.clone()).flags(["--shutdown-delay-duration=5s"]);
    let running = server.start().unwrap();
    let address = running.url.trim_start_matches("https://").to_owned();
    let client = Arc::new(running.client().unwrap());
    let (watcher, writer) = (client.clone(), client.clone());
    let watch = tokio::spawn(async move { watcher.text(&format!("{MAPS}?watch=true&timeoutSeconds=600")).await });
    until("a watch", async || is_watched(&client).await).await;
    let slow = tokio::spawn(async move { post(&writer, "slow").await });
    let _held = tokio::time::timeout(DEADLINE, hold.begun.acquire()).await.unwrap().unwrap();

    signal.0.get().unwrap().initiate();
    let checks = client.text("/readyz").await.unwrap();
    assert!(checks.contains("[-]shutdown failed"), "{checks}");
    assert_eq!(client.text("/livez").await.unwrap(), "ok");
    assert_eq!(post(&client, "during-the-delay").await, StatusCode::CREATED);
    assert!(!watch.is_finished(), "watches stay open during the delay");

    let events = tokio::time::timeout(DEADLINE, watch).await.unwrap().unwrap().unwrap();
    assert!(events.contains("during-the-delay"), "{events}");
    // The port is open while a write is in flight.
    assert!(!slow.is_finished() && TcpStream::connect(&address).is_ok());
    hold.release.add_permits(1);
    assert_eq!(tokio::time::timeout(DEADLINE, slow).await.unwrap().unwrap(), StatusCode::CREATED);

    let is_closed = async || store.get(SLOW, None).await.is_err();
    drop(client);
    until("a closed store", is_closed).await;
    assert!(TcpStream::connect(&address).is_err(), "the store closes after the port");
    tokio::task::spawn_blocking(move || drop(running)).await.unwrap();
    drop(store);
    let reopened = EmbeddedStore::open(folder.path().join("store")).unwrap();
    assert!(reopened.get(SLOW, None).await.unwrap().kv.is_some(), "a write in flight is stored");
}
