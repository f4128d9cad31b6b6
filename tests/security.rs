//! What broke other API servers must not break this one: the rows of `docs/security.md` that a client can see.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "common/client.rs"]
mod client;
mod common;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

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

#[tokio::test]
async fn nothing_secret_is_logged() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens.csv");
    std::fs::write(&tokens, "static-token-5e3a,robot,1,\"dev\"\n").unwrap();
    let server = Server::start_with(folder.path(), &["-v=10", &format!("--token-auth-file={}", tokens.display())]);
    let client = client::connect(&server).await;
    let issue = "/api/v1/namespaces/default/serviceaccounts/default/token";
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}).to_string();
    send(&client, "POST", "/api/v1/namespaces/default/serviceaccounts", JSON, account).await;
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}).to_string();
    let (code, issued) = send(&client, "POST", issue, JSON, request).await;
    assert_eq!(code, 201, "{issued}");
    let issued = issued["status"]["token"].as_str().unwrap().to_owned();
    let secret =
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"p": "pass-word-77c1"}});
    assert_eq!(send(&client, "POST", "/api/v1/namespaces/default/secrets", JSON, secret.to_string()).await.0, 201);
    for token in ["static-token-5e3a", &issued, "unknown-token-91d0"] {
        let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}});
        send(&client, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", JSON, review.to_string()).await;
        let request = Request::get(format!("/api/v1/pods?access_token={token}"))
            .header("Authorization", format!("Bearer {token}"));
        client.send(request.body(Body::empty()).unwrap()).await.unwrap();
    }
    let log = server.kill();
    let signature = issued.rsplit('.').next().unwrap();
    for secret in
        ["static-token-5e3a", "unknown-token-91d0", "pass-word-77c1", "cGFzcy13b3JkLTc3YzE", signature, "PRIVATE KEY"]
    {
        let line = log.lines().find(|line| line.contains(secret));
        assert!(line.is_none(), "{secret} is in the log: {}", line.unwrap_or_default());
    }
}
