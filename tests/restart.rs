//! Two servers on one etcd are restarted in turn while clients write, read and watch.
//!
//! A client switches to the other server when its server does not accept a request. It sees no
//! failed request, no lost write, and every change once and in order.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;
#[path = "../server/storage/tests/etcd_server/mod.rs"]
mod etcd_server;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

use common::Server;
use etcd_server::EtcdServer;
use needs::needs;
use reqwest::{Certificate, Client, Method, Response};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

const TOKEN: &str = "admins-token-4d1e";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const WRITERS: usize = 8;
/// Number of restarts of each server.
const ROUNDS: usize = 3;
/// Number of successful requests between restarts.
const ANSWERED: usize = 150;
/// Maximum time without a server that accepts requests.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Name of the last created object.
const END: &str = "the-end";

/// State shared by all clients: the servers' current addresses, and one HTTP client.
struct Servers {
    client: Client,
    urls: [RwLock<String>; 2],
    answered: watch::Sender<usize>,
    stop: AtomicBool,
}

/// A client that uses one server until it does not accept a request.
#[derive(Clone)]
struct FailoverClient {
    servers: Arc<Servers>,
    at: usize,
}

/// Reports whether the server processed no part of the request.
///
/// Either there was no connection, or the connection was closed before the request was sent. HTTP/2
/// names the accepted requests in GOAWAY; `reqwest` resends the others.
fn is_unprocessed(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        if error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_canceled) {
            return true;
        }
        cause = error.source();
    }
    error.is_connect()
}

impl FailoverClient {
    async fn send(&mut self, method: Method, path: &str, body: Option<&Value>) -> Response {
        let begin = Instant::now();
        loop {
            let url = format!("{}{path}", self.servers.urls[self.at].read().unwrap());
            let request = self.servers.client.request(method.clone(), url).bearer_auth(TOKEN);
            let request = match body {
                Some(body) if method == Method::PATCH => {
                    request.header("Content-Type", "application/merge-patch+json").body(body.to_string())
                }
                Some(body) => request.header("Content-Type", "application/json").body(body.to_string()),
                None => request,
            };
            match request.send().await {
                Ok(response) => return response,
                Err(error) if is_unprocessed(&error) => self.at = 1 - self.at,
                Err(error) => panic!("{method} {path}: {error:?}"),
            }
            assert!(begin.elapsed() < TIMEOUT, "no server takes {method} {path}");
        }
    }

    /// Sends a request; fails unless it succeeds.
    async fn send_ok(&mut self, method: Method, path: &str, body: Option<&Value>) -> Value {
        let response = self.send(method.clone(), path, body).await;
        let code = response.status();
        let answer = response.text().await.unwrap_or_else(|error| panic!("{method} {path}: {error:?}"));
        assert!(code.is_success(), "{method} {path}: {code} {answer}");
        self.servers.answered.send_modify(|answered| *answered += 1);
        serde_json::from_str(&answer).unwrap()
    }

    /// Reads from the other server, or from the first one when the other is restarting.
    async fn get_from_other(&self, path: &str) -> Value {
        FailoverClient { at: 1 - self.at, ..self.clone() }.send_ok(Method::GET, path, None).await
    }

    fn is_stopped(&self) -> bool {
        self.servers.stop.load(Ordering::Relaxed)
    }
}

fn config_map(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"value": value}})
}

/// Creates, replaces, patches and deletes objects with unique names.
///
/// Compares each write with the response of the other server; returns the number of objects.
async fn write(mut client: FailoverClient, writer: usize) -> usize {
    for i in 0.. {
        if client.is_stopped() {
            return i;
        }
        let name = format!("w{writer}-{i}");
        let path = format!("{MAPS}/{name}");
        let created = client.send_ok(Method::POST, MAPS, Some(&config_map(&name, "created"))).await;
        assert_eq!(client.get_from_other(&path).await, created);
        let replaced = client.send_ok(Method::PUT, &path, Some(&config_map(&name, "replaced"))).await;
        assert_eq!(client.get_from_other(&path).await, replaced);
        let patched = client.send_ok(Method::PATCH, &path, Some(&json!({"data": {"value": "patched"}}))).await;
        assert_eq!(patched["data"]["value"], "patched");
        client.send_ok(Method::DELETE, &path, None).await;
    }
    unreachable!("the loop ends by the stop flag")
}

/// Lists all pages repeatedly; each page may come from either server.
async fn list(mut client: FailoverClient) {
    while !client.is_stopped() {
        let mut token = String::new();
        loop {
            let page = client.send_ok(Method::GET, &format!("{MAPS}?limit=3&continue={token}"), None).await;
            client.at = 1 - client.at;
            match page["metadata"]["continue"].as_str() {
                Some(next) => token = next.to_owned(),
                None => break,
            }
        }
    }
}

/// Watches until the object `END` appears; continues at either server when a watch ends.
///
/// Returns the event types of each object.
async fn follow(mut client: FailoverClient, from: &str) -> BTreeMap<String, Vec<String>> {
    let (mut seen, mut version) = (BTreeMap::<String, Vec<String>>::new(), from.to_owned());
    loop {
        let path = format!("{MAPS}?watch=1&resourceVersion={version}");
        let mut response = client.send(Method::GET, &path, None).await;
        assert!(response.status().is_success(), "{path}: {}", response.status());
        let mut rest = Vec::new();
        while let Some(bytes) = response.chunk().await.unwrap_or_else(|error| panic!("{path}: {error:?}")) {
            rest.extend_from_slice(&bytes);
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                let event: Value = serde_json::from_slice(&line).unwrap();
                let metadata = &event["object"]["metadata"];
                let (name, next) = (metadata["name"].as_str(), metadata["resourceVersion"].as_str());
                let (Some(name), Some(next)) = (name, next) else { panic!("{path}: {event}") };
                assert!(number(next) > number(&version), "{next} came late or twice");
                version = next.to_owned();
                if name == END {
                    return seen;
                }
                seen.entry(name.to_owned()).or_default().push(event["type"].as_str().unwrap().to_owned());
            }
        }
        assert!(rest.is_empty(), "a watch ended within an event");
    }
}

fn number(version: &str) -> u64 {
    version.parse().unwrap()
}

/// Starts or restarts one of the servers.
fn start(folder: &Path, etcd: &EtcdServer, at: usize) -> Server {
    let tokens = folder.join("tokens.csv");
    fs::write(&tokens, format!("{TOKEN},admin,uid-admin,\"system:masters\"\n")).unwrap();
    let flags = [format!("--etcd-servers={}", etcd.url), format!("--token-auth-file={}", tokens.display())];
    Server::start_with(&folder.join(at.to_string()), &flags.each_ref().map(String::as_str))
}

/// Returns a client that trusts both servers.
fn client(folder: &Path) -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let authority = |at: usize| {
        let pem = fs::read(folder.join(at.to_string()).join("data/pki/ca.crt")).unwrap();
        Certificate::from_pem(&pem).unwrap()
    };
    let builder = Client::builder().add_root_certificate(authority(0)).add_root_certificate(authority(1));
    builder.build().unwrap()
}

#[needs(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_see_no_errors_during_restarts() {
    let etcd = EtcdServer::start();
    let folder = tempfile::tempdir().unwrap();
    let mut running = [0, 1].map(|at| Some(start(folder.path(), &etcd, at)));
    let urls = running.each_ref().map(|server| RwLock::new(server.as_ref().unwrap().url.clone()));
    let (answered, stop) = (watch::Sender::new(0), AtomicBool::new(false));
    let servers = Arc::new(Servers { client: client(folder.path()), urls, answered, stop });
    let client = |at: usize| FailoverClient { servers: servers.clone(), at: at % 2 };
    let begin = client(0).send_ok(Method::GET, MAPS, None).await["metadata"]["resourceVersion"].clone();
    let follow = |at| {
        let (client, begin) = (client(at), begin.clone());
        async move { follow(client, begin.as_str().unwrap()).await }
    };
    // When a writer fails, these tasks are aborted and the writer's panic is reported.
    let watchers: JoinSet<_> = (0..4).map(follow).collect();
    let lists: JoinSet<_> = [0, 1].map(|at| list(client(at))).into_iter().collect();
    let writers: Vec<_> = (0..WRITERS).map(|writer| tokio::spawn(write(client(writer), writer))).collect();

    for at in [0, 1].repeat(ROUNDS) {
        let enough = *servers.answered.borrow() + ANSWERED;
        let failed = || writers.iter().any(tokio::task::JoinHandle::is_finished);
        let mut answered = servers.answered.subscribe();
        let waiting = answered.wait_for(|answered| *answered >= enough || failed());
        let waited = tokio::time::timeout(TIMEOUT, waiting).await;
        assert!(waited.is_ok(), "requests are not answered any more");
        drop(waited);
        tokio::task::block_in_place(|| {
            assert!(running[at].take().unwrap().stop(), "the server exited with success");
            let server = start(folder.path(), &etcd, at);
            servers.urls[at].write().unwrap().clone_from(&server.url);
            running[at] = Some(server);
        });
    }
    servers.stop.store(true, Ordering::Relaxed);
    let mut expected = BTreeMap::new();
    for (writer, task) in writers.into_iter().enumerate() {
        let types = ["ADDED", "MODIFIED", "MODIFIED", "DELETED"].map(str::to_owned).to_vec();
        expected.extend((0..task.await.unwrap()).map(|i| (format!("w{writer}-{i}"), types.clone())));
    }
    lists.join_all().await;
    client(0).send_ok(Method::POST, MAPS, Some(&config_map(END, "created"))).await;
    for seen in watchers.join_all().await {
        assert_eq!(seen, expected);
    }
}
