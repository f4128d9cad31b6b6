//! Published vulnerabilities of other API servers that a request can demonstrate
//! (`docs/security.md`, "Published failures").

use std::fmt::Write as _;

use reqwest::Method;
use serde_json::{Value, json};

use crate::common::wire::{Connection, Request};
use crate::support::{ADMIN, Answer, JSON, JSON_PATCH, Target, YAML, token};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Nested JSON lists of this depth.
fn nested(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

/// YAML in which each line references the previous line nine times.
fn alias_bomb() -> String {
    let mut text =
        String::from("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\ndata:\n  a0: &a0 xxxxxxxxxx\n");
    for i in 1..12 {
        let before = vec![format!("*a{}", i - 1); 9].join(",");
        writeln!(text, "  a{i}: &a{i} [{before}]").unwrap();
    }
    text
}

fn endpoint_slice(address: &str) -> String {
    json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": "s"},
        "addressType": "IPv4", "endpoints": [{"addresses": [address]}],
    })
    .to_string()
}

/// Sends a body as the administrator; fails when the code differs, or when the server is not alive
/// afterwards.
async fn expect(target: &Target, method: Method, path: &str, media_type: &str, body: String, code: u16) -> Answer {
    let answer = target.send(ADMIN, method, path, media_type, body).await;
    assert_eq!(answer.code, code, "{path}: {}", answer.body);
    assert_eq!(answer.body["kind"], "Status", "{path}: {}", answer.body);
    target.assert_alive().await;
    answer
}

/// CVE-2019-11247.
#[tokio::test]
async fn cluster_scoped_resource_is_not_served_below_a_namespace() {
    let target = Target::start(&[]);
    for path in ["nodes", "nodes/n", "persistentvolumes", "namespaces", "clusterroles"] {
        let answer = target.get(ADMIN, &format!("/api/v1/namespaces/default/{path}")).await;
        assert_eq!(answer.code, 404, "{path}: {}", answer.body);
    }
    let group = "/apis/rbac.authorization.k8s.io/v1";
    for method in [Method::GET, Method::POST, Method::DELETE] {
        let path = format!("{group}/namespaces/default/clusterroles");
        expect(&target, method, &path, JSON, "{}".to_owned(), 404).await;
    }
}

/// NCC 2022 RKV, CVE-2022-3162.
#[tokio::test]
async fn dot_segments_never_reach_the_store() {
    let target = Target::start(&[]);
    let mut connection = Connection::new(&target.server);
    for (path, code) in [
        (format!("{MAPS}/%2e%2e"), 400),
        (format!("{MAPS}/.."), 400),
        (format!("{MAPS}/%2e"), 400),
        (format!("{MAPS}/%2e%2e%2fsecrets"), 404),
        // As upstream: the key is rejected before the store is read.
        ("/api/v1/namespaces/%2e%2e/configmaps/map".to_owned(), 500),
        ("/api/v1/namespaces/../configmaps/map".to_owned(), 500),
    ] {
        let answer = connection.send(Request::json(&token(ADMIN), "GET", &path, "")).await;
        assert_eq!(answer.code, code, "{path}: {}", answer.text());
    }
    let dots = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": ".."}});
    expect(&target, Method::POST, MAPS, JSON, dots.to_string(), 422).await;
}

/// CVE-2022-3162: a list of one resource returns no objects of a resource whose name has the same
/// prefix.
#[tokio::test]
async fn list_of_one_resource_does_not_read_a_resource_with_a_longer_name() {
    let target = Target::start(&[]);
    for plural in ["things", "thingsets"] {
        let kind = plural.to_uppercase();
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
        let definition = json!({
            "metadata": {"name": format!("{plural}.example.com")},
            "spec": {"group": "example.com", "scope": "Namespaced", "versions": [version],
                "names": {"plural": plural, "singular": plural, "kind": kind}},
        });
        target.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition).await;
    }
    let (things, sets) = ("/apis/example.com/v1/things", "/apis/example.com/v1/namespaces/default/thingsets");
    target.await_right(ADMIN, things).await;
    target.await_right(ADMIN, sets).await;
    let object = json!({"apiVersion": "example.com/v1", "kind": "THINGSETS", "metadata": {"name": "hidden"}});
    target.create(sets, &object).await;
    let listed = target.get(ADMIN, things).await;
    assert_eq!((listed.code, &listed.body["items"]), (200, &json!([])));
}

/// CVE-2019-1002100.
#[tokio::test]
async fn json_patch_with_too_many_operations_is_rejected() {
    let target = Target::start(&[]);
    target.create(MAPS, &json!({"metadata": {"name": "map"}})).await;
    let operation = json!({"op": "test", "path": "/kind", "value": "ConfigMap"});
    let patch = Value::from(vec![operation; 10_001]).to_string();
    expect(&target, Method::PATCH, &format!("{MAPS}/map"), JSON_PATCH, patch, 413).await;
}

/// CVE-2019-11253, CVE-2019-11254.
#[tokio::test]
async fn yaml_and_json_bombs_are_rejected() {
    let target = Target::start(&[]);
    expect(&target, Method::POST, MAPS, YAML, alias_bomb(), 400).await;
    expect(&target, Method::POST, MAPS, YAML, format!("a: {}", nested(100_000)), 400).await;
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "deep"}, "data": null});
    let deep = object.to_string().replace("null", &nested(100_000));
    expect(&target, Method::POST, MAPS, JSON, deep, 400).await;
    let long = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "x".repeat(4 << 20)}});
    expect(&target, Method::POST, MAPS, JSON, long.to_string(), 413).await;
}

/// CVE-2021-25737.
#[tokio::test]
async fn endpoints_at_local_addresses_are_rejected() {
    let target = Target::start(&[]);
    let slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    for address in ["127.0.0.1", "169.254.169.254", "224.0.0.1"] {
        expect(&target, Method::POST, slices, JSON, endpoint_slice(address), 422).await;
    }
    let subsets = json!([{"addresses": [{"ip": "127.0.0.1"}], "ports": [{"port": 80}]}]);
    let endpoints = json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "e"}, "subsets": subsets});
    expect(&target, Method::POST, "/api/v1/namespaces/default/endpoints", JSON, endpoints.to_string(), 422).await;
}

/// CVE-2020-8554.
#[tokio::test]
async fn external_addresses_of_services_can_be_denied() {
    let target = Target::start(&["--enable-admission-plugins=DenyServiceExternalIPs"]);
    let services = "/api/v1/namespaces/default/services";
    let service = |addresses: Value| {
        let spec = json!({"ports": [{"port": 80}], "externalIPs": addresses});
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": spec})
    };
    expect(&target, Method::POST, services, JSON, service(json!(["203.0.113.7"])).to_string(), 403).await;
    target.create(services, &service(json!([]))).await;
    let patch = json!([{"op": "add", "path": "/spec/externalIPs", "value": ["203.0.113.7"]}]).to_string();
    expect(&target, Method::PATCH, &format!("{services}/s"), JSON_PATCH, patch, 403).await;
}

/// CVE-2020-8552: labels from client input do not become metric labels.
#[tokio::test]
async fn client_input_does_not_become_metric_labels() {
    let target = Target::start(&[]);
    for number in 0..50 {
        let invented = format!("invented-{number}");
        target.get(ADMIN, &format!("/apis/{invented}.example.com/{invented}/{invented}")).await;
        target.get(ADMIN, &format!("/{invented}")).await;
        let method = Method::from_bytes(invented.to_uppercase().as_bytes()).unwrap();
        target.send(ADMIN, method, MAPS, JSON, "").await;
    }
    target.get(ADMIN, MAPS).await;
    let metrics = target.request(ADMIN, Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    let found = metrics.lines().find(|line| line.to_lowercase().contains("invented-"));
    assert!(found.is_none(), "{found:?}");
    assert!(metrics.contains("apiserver_request_total"));
}

/// CVE-2021-25735: admission and validation use the stored object as the old object, not the
/// client's.
#[tokio::test]
async fn old_object_of_update_is_the_stored_object() {
    let target = Target::start(&[]);
    let map = json!({"metadata": {"name": "map"}, "data": {"k": "stored"}, "immutable": true});
    let stored = target.create(MAPS, &map).await;
    let mut changed = stored.clone();
    changed["data"]["k"] = json!("changed");
    changed["immutable"] = json!(false);
    expect(&target, Method::PUT, &format!("{MAPS}/map"), JSON, changed.to_string(), 422).await;
    assert_eq!(target.get(ADMIN, &format!("{MAPS}/map")).await.body["data"]["k"], "stored");
}

/// NCC 2022 WVM: a bootstrap token of a format that upstream does not generate is rejected.
#[tokio::test]
async fn malformed_bootstrap_token_does_not_authenticate() {
    let target = Target::start(&["--enable-bootstrap-token-auth"]);
    let data = json!({"token-id": "short", "token-secret": "x", "usage-bootstrap-authentication": "true"});
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token",
        "metadata": {"name": "bootstrap-token-short"}, "stringData": data});
    let path = "/api/v1/namespaces/kube-system/secrets";
    let created = target.send(ADMIN, Method::POST, path, JSON, secret.to_string()).await;
    assert_ne!(created.code, 500, "{}", created.body);
    let url = format!("{}/api/v1/namespaces", target.server.url);
    let response = target.http().get(url).bearer_auth("short.x").send().await.unwrap();
    assert_eq!(response.status().as_u16(), 401);
}

/// ToB 2019: paths below `/logs` do not leave the log folder and require authorization.
#[tokio::test]
async fn logs_endpoint_is_confined_to_log_folder() {
    let target = Target::start(&[]);
    for path in ["/logs/..%2f..%2f..%2fetc%2fpasswd", "/logs/%2e%2e/%2e%2e/etc/passwd", "/logs//etc/passwd"] {
        let response = target.request(ADMIN, Method::GET, path).send().await.unwrap();
        let text = response.text().await.unwrap();
        assert!(!text.contains("root:"), "{path}: {text}");
    }
    assert_eq!(target.get("mallory", "/logs/").await.code, 403);
}
