//! Two servers on one etcd, one with a subset of the APIs: it forwards other requests to its peer,
//! with the user's identity.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;
#[path = "../server/storage/tests/etcd_server/mod.rs"]
mod etcd_server;

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use common::Server;
use etcd_server::EtcdServer;
use needs::needs;
use reqwest::{Certificate, Client, Method, StatusCode};
use serde_json::{Value, json};

const ADMIN: &str = "admins-token-91c2";
const JANE: &str = "janes-token-07fd";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
const REVIEWS: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const AGGREGATED_DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const LOCAL_DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;profile=nopeer";
/// Maximum time until the servers know of each other.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Starts a server with all APIs, and one that forwards requests to it.
fn start(folder: &Path, etcd: &EtcdServer) -> (Server, Server) {
    let tokens = folder.join("tokens.csv");
    fs::write(&tokens, format!("{ADMIN},admin,1,\"system:masters\"\n{JANE},jane,2,\"dev,ops\"\n")).unwrap();
    // The peer's flags must name the port.
    let port = ports::free_port(Ipv4Addr::LOCALHOST);
    let pki = folder.join("whole/data/pki");
    let file = |flag: &str, name: &str| format!("--{flag}={}", pki.join(name).display());
    let common = [format!("--etcd-servers={}", etcd.url), format!("--token-auth-file={}", tokens.display())];
    let with = |flags: &[String]| common.iter().chain(flags).cloned().collect::<Vec<_>>();
    let run = |name: &str, flags: Vec<String>| {
        Server::start_with(&folder.join(name), &flags.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let whole = [
        "--hostname-override=whole".into(),
        format!("--secure-port={port}"),
        "--peer-advertise-ip=127.0.0.1".into(),
        format!("--peer-advertise-port={port}"),
    ];
    let whole = run("whole", with(&whole));
    let partial = [
        "--hostname-override=partial".into(),
        "--advertise-address=10.0.0.2".into(),
        "--runtime-config=batch/v1=false,authentication.k8s.io/v1=false".into(),
        file("peer-ca-file", "ca.crt"),
        file("proxy-client-cert-file", "front-proxy-client.crt"),
        file("proxy-client-key-file", "front-proxy-client.key"),
    ];
    (whole, run("partial", with(&partial)))
}

/// A client of the server with a subset of the APIs.
struct PartialClient {
    client: Client,
    url: String,
}

impl PartialClient {
    async fn request(&self, token: &str, method: Method, path: &str, body: Option<&Value>) -> (StatusCode, String) {
        let request = self.client.request(method, format!("{}{path}", self.url)).bearer_auth(token);
        let request = match body {
            Some(body) => request.header("Content-Type", "application/json").body(body.to_string()),
            None => request,
        };
        let response = request.send().await.unwrap();
        (response.status(), response.text().await.unwrap())
    }

    async fn get(&self, path: &str) -> (StatusCode, String) {
        self.request(ADMIN, Method::GET, path, None).await
    }

    /// Sends the request until the response has this code.
    async fn until(&self, code: StatusCode, path: &str) -> String {
        let begin = Instant::now();
        loop {
            let (answered, text) = self.get(path).await;
            if answered == code {
                return text;
            }
            assert!(begin.elapsed() < TIMEOUT, "{path}: {answered} {text}");
        }
    }

    /// Reports whether discovery lists batch/v1.
    async fn shows_batch(&self, accept: &str) -> bool {
        let request = self.client.get(format!("{}/apis", self.url)).bearer_auth(ADMIN).header("Accept", accept);
        let groups: Value = serde_json::from_str(&request.send().await.unwrap().text().await.unwrap()).unwrap();
        let batch = groups["items"].as_array().unwrap().iter().find(|group| group["metadata"]["name"] == "batch");
        batch.is_some_and(|batch| batch["versions"][0]["version"] == "v1")
    }
}

fn job() -> Value {
    let container = json!({"name": "a", "image": "a"});
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job"},
        "spec": {"template": {"spec": {"containers": [container], "restartPolicy": "Never"}}}})
}

/// Waits until each server has a lease at the key that kube-apiserver uses.
fn await_peer_leases(etcd: &EtcdServer) {
    let [key, range_end] = ["/registry/peerserverleases/apiserver-", "/registry/peerserverleases/apiserver."]
        .map(|key| STANDARD.encode(key));
    let (range, begin) = (json!({"key": key, "range_end": range_end, "keys_only": true}).to_string(), Instant::now());
    while !etcd.post("/v3/kv/range", &range).contains("\"count\":\"2\"") {
        assert!(begin.elapsed() < TIMEOUT, "a server has no peer lease");
    }
}

#[needs(etcd)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_forwarded_to_the_peer_with_the_api() {
    let etcd = EtcdServer::start();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap();
    let (whole, partial) = start(folder.path(), &etcd);
    let authority = fs::read(folder.path().join("partial/data/pki/ca.crt")).unwrap();
    let client = Client::builder().add_root_certificate(Certificate::from_pem(&authority).unwrap()).build().unwrap();
    let client_of_partial = PartialClient { client, url: partial.url.clone() };

    client_of_partial.until(StatusCode::OK, JOBS).await;
    let (code, created) = client_of_partial.request(ADMIN, Method::POST, JOBS, Some(&job())).await;
    assert_eq!(code, StatusCode::CREATED, "{created}");
    let (code, found) = client_of_partial.get(&format!("{JOBS}/job")).await;
    assert!(code == StatusCode::OK && found.contains("\"name\":\"job\""), "{code} {found}");

    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let (code, reviewed) = client_of_partial.request(JANE, Method::POST, REVIEWS, Some(&review)).await;
    let reviewed: Value = serde_json::from_str(&reviewed).unwrap();
    assert_eq!(code, StatusCode::CREATED, "{reviewed}");
    let user = json!({"username": "jane", "uid": "2", "groups": ["dev", "ops", "system:authenticated"]});
    assert_eq!(reviewed["status"]["userInfo"], user);
    let (code, refused) = client_of_partial.request(JANE, Method::GET, JOBS, None).await;
    assert!(code == StatusCode::FORBIDDEN && refused.contains("User \\\"jane\\\""), "{code} {refused}");

    assert!(
        client_of_partial.shows_batch(AGGREGATED_DISCOVERY).await
            && !client_of_partial.shows_batch(LOCAL_DISCOVERY).await
    );
    let (_, metrics) = client_of_partial.get("/metrics").await;
    let counted = "apiserver_rerouted_request_total{code=\"201\",group=\"batch\",resource=\"jobs\",version=\"v1\"} 1";
    assert!(metrics.contains(counted), "{metrics}");

    await_peer_leases(&etcd);
    whole.kill();
    let (code, gone) = client_of_partial.get(JOBS).await;
    assert!(code == StatusCode::SERVICE_UNAVAILABLE, "{code} {gone}");
    assert!(partial.stop(), "the server exited with success");
}
