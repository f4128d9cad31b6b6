//! What broke other API servers must not break this one: the rows of `docs/security.md` that a client can see.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "common/client.rs"]
mod client;
mod common;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use common::Server;
use http::Request;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";

/// The status code and the document of an answer.
async fn send(client: &Client, method: &str, path: &str, media_type: &str, body: impl Into<Vec<u8>>) -> (u16, Value) {
    let request = Request::builder().method(method).uri(path).header("Content-Type", media_type);
    let response = client.send(request.body(Body::from(body.into())).unwrap()).await.unwrap();
    let code = response.status().as_u16();
    let text = response.into_body().collect_bytes().await.unwrap();
    (code, serde_json::from_slice(&text).unwrap_or_default())
}

/// A list of lists of lists ...
fn nested(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

/// Each line holds the one before nine times.
fn aliases() -> String {
    let mut text =
        String::from("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\ndata:\n  a0: &a0 xxxxxxxxxx\n");
    for i in 1..12 {
        let before = vec![format!("*a{}", i - 1); 9].join(",");
        writeln!(text, "  a{i}: &a{i} [{before}]").unwrap();
    }
    text
}

fn slice(address: &str) -> String {
    json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": "s"},
        "addressType": "IPv4", "endpoints": [{"addresses": [address]}],
    })
    .to_string()
}

fn patch(operations: usize) -> String {
    let one = json!({"op": "test", "path": "/kind", "value": "ConfigMap"});
    Value::from(vec![one; operations]).to_string()
}

#[tokio::test]
async fn requests_that_broke_other_servers() {
    let server = Server::start();
    let client = client::connect(&server).await;
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "map"}}).to_string();
    let maps = "/api/v1/namespaces/default/configmaps";
    let deep =
        format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"deep"}},"data":{}}}"#, nested(100_000));
    let long = format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","data":{{"k":"{}"}}}}"#, "x".repeat(4 << 20));
    for (what, method, path, media_type, body, expect) in [
        ("an object to patch", "POST", maps, JSON, map, 201),
        (
            "CVE-2019-11247: cluster scope through a namespace",
            "GET",
            "/api/v1/namespaces/default/nodes",
            JSON,
            String::new(),
            404,
        ),
        (
            "RKV: a name that leads elsewhere",
            "GET",
            "/api/v1/namespaces/default/configmaps/..",
            JSON,
            String::new(),
            400,
        ),
        ("RKV: the same, escaped", "GET", "/api/v1/namespaces/default/configmaps/%2e%2e", JSON, String::new(), 400),
        (
            "CVE-2022-3162: a namespace that leads elsewhere",
            "GET",
            "/api/v1/namespaces/../configmaps/map",
            JSON,
            String::new(),
            404,
        ),
        (
            "CVE-2019-1002100: too many operations",
            "PATCH",
            &format!("{maps}/map"),
            "application/json-patch+json",
            patch(10_001),
            413,
        ),
        ("CVE-2019-11253: aliases of aliases", "POST", maps, YAML, aliases(), 400),
        ("CVE-2019-11254: deep YAML", "POST", maps, YAML, format!("a: {}", nested(100_000)), 400),
        ("deep JSON", "POST", maps, JSON, deep, 400),
        ("a body that is too long", "POST", maps, JSON, long, 413),
        (
            "CVE-2021-25737: an endpoint at loopback",
            "POST",
            "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
            JSON,
            slice("127.0.0.1"),
            422,
        ),
        (
            "CVE-2021-25737: one at a link-local address",
            "POST",
            "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
            JSON,
            slice("169.254.169.254"),
            422,
        ),
    ] {
        let begin = Instant::now();
        let (code, answer) = send(&client, method, path, media_type, body).await;
        assert_eq!(code, expect, "{what}: {answer}");
        assert!(begin.elapsed() < Duration::from_secs(20), "{what} took {:?}", begin.elapsed());
    }
    assert_eq!(send(&client, "GET", &format!("{maps}/map"), JSON, "").await.0, 200, "the server still answers");
}

/// The ways in which clients show tokens, and one that no server of Kubernetes looks at.
fn with_token(token: &str) -> [Request<Body>; 3] {
    let get = |query: &str| Request::get(format!("/api/v1/pods{query}"));
    let protocol = format!("base64url.bearer.authorization.k8s.io.{}", URL_SAFE_NO_PAD.encode(token));
    [
        get("").header("Authorization", format!("Bearer {token}")),
        get(&format!("?access_token={token}&limit=1")),
        get("").header("Sec-WebSocket-Protocol", format!("{protocol}, v5.channel.k8s.io")),
    ]
    .map(|request| request.body(Body::empty()).unwrap())
}

/// What every server of the tests logs is searched as well; here are the secrets that only this test knows.
#[tokio::test]
async fn nothing_secret_is_logged() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens.csv");
    std::fs::write(&tokens, "static-token-5e3a,robot,1,\"dev\"\n").unwrap();
    let flags = ["--enable-bootstrap-token-auth", &format!("--token-auth-file={}", tokens.display())];
    let server = Server::start_with(folder.path(), &flags);
    let client = client::connect(&server).await;
    let post = async |path: &str, body: Value| {
        let (code, answer) = send(&client, "POST", path, JSON, body.to_string()).await;
        assert_eq!(code, 201, "{path}: {answer}");
        answer
    };
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    post(accounts, json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}})).await;
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let issued = post(&format!("{accounts}/default/token"), request).await;
    let issued = issued["status"]["token"].as_str().unwrap().to_owned();
    let secret = |name: &str, of: &str, data: Value| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "type": of, "stringData": data});
    let password = secret("s", "Opaque", json!({"p": "pass-word-77c1"}));
    post("/api/v1/namespaces/default/secrets", password).await;
    let bootstrap =
        json!({"token-id": "a1b2c3", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true"});
    let bootstrap = secret("bootstrap-token-a1b2c3", "bootstrap.kubernetes.io/token", bootstrap);
    post("/api/v1/namespaces/kube-system/secrets", bootstrap).await;
    let tokens = ["static-token-5e3a", &issued, "a1b2c3.0123456789abcdef", "unknown-token-91d0"];
    for token in tokens {
        let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}});
        post("/apis/authentication.k8s.io/v1/tokenreviews", review).await;
        for request in with_token(token) {
            client.send(request).await.unwrap();
        }
    }
    let audit = server.audit_log();
    for recorded in ["tokenreviews", "/default/token", "\"secrets\"", "access_token=REDACTED"] {
        assert!(audit.contains(recorded), "{recorded} is not in the audit log: {audit}");
    }
    let encoded = tokens.map(|token| URL_SAFE_NO_PAD.encode(token));
    let parts = ["0123456789abcdef", "MDEyMzQ1Njc4OWFiY2RlZg", "pass-word-77c1", "cGFzcy13b3JkLTc3YzE"];
    let signature = issued.rsplit('.').next();
    let secrets = tokens.into_iter().chain(encoded.iter().map(String::as_str)).chain(parts).chain(signature);
    server.search_logs(&secrets.collect::<Vec<_>>());
}
