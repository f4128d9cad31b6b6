//! Custom resources with several versions: the effect of a write in another version, and field
//! ownership.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "common/client.rs"]
mod client;
mod common;

use common::Server;
use http::Request;
use kube::Client;
use serde_json::{Value, json};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Returns a version with these properties of the specification and this path of its replicas.
fn version(name: &str, properties: Value, replicas: &str) -> Value {
    let replicas = format!(".spec.{replicas}");
    let selectable: Value =
        properties.as_object().unwrap().keys().map(|name| json!({"jsonPath": format!(".spec.{name}")})).collect();
    json!({
        "name": name, "served": true, "storage": name == "v1", "selectableFields": selectable,
        "subresources": {"scale": {"specReplicasPath": replicas, "statusReplicasPath": ".status.replicas"}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}},
    })
}

/// Returns the definition of gauges: v2 renames the replicas, adds notes and combines the sides
/// into one field.
fn definition() -> Value {
    let (integer, text) = (json!({"type": "integer"}), json!({"type": "string", "default": "none"}));
    let sides = json!({"type": "string", "maxLength": 20});
    let side = |index: usize| format!("self.?spec.?sides.optMap(sides, int(sides.split('x')[{index}]))");
    let expressions = json!([
        {"from": "v1", "to": "v2", "fields": {
            "spec.sides": "self.?spec.?width.optMap(width, string(width) + 'x' + string(self.spec.height))",
        }},
        {"from": "v2", "to": "v1", "fields": {"spec.width": side(0), "spec.height": side(1)}},
    ]);
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {
            "name": "gauges.versions.example.com",
            "annotations": {
                "conversion.kube-apiserver/field-moves": r#"[{"v1": "spec.replicas", "v2": "spec.count"}]"#,
                "conversion.kube-apiserver/expressions": expressions.to_string(),
            },
        },
        "spec": {
            "group": "versions.example.com", "scope": "Namespaced", "names": {"plural": "gauges", "kind": "Gauge"},
            "versions": [
                version("v1", json!({"size": integer, "replicas": integer, "width": integer, "height": integer}), "replicas"),
                version("v2", json!({"size": integer, "count": integer, "note": text, "sides": sides}), "count"),
            ],
        },
    })
}

struct Gauges(Client);

impl Gauges {
    /// Starts a client of a server that serves the definition.
    async fn start(server: &Server) -> Self {
        let gauges = Gauges(client::connect(server).await);
        assert_eq!(gauges.send("POST", DEFINITIONS, "application/json", &definition()).await.0, 201);
        while gauges.get("v2", "").await.0 == 404 {
            tokio::task::yield_now().await;
        }
        gauges
    }

    async fn send(&self, method: &str, path: &str, media: &str, body: &Value) -> (u16, Value) {
        let request = Request::builder().method(method).uri(path).header("Content-Type", media);
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        match self.0.request_text(request.body(body).unwrap()).await {
            Ok(text) => (if method == "POST" { 201 } else { 200 }, serde_json::from_str(&text).unwrap()),
            Err(kube::Error::Api(status)) => (status.code, json!(status.message)),
            Err(other) => panic!("{method} {path}: {other}"),
        }
    }

    async fn get(&self, version: &str, name: &str) -> (u16, Value) {
        self.send("GET", &path(version, name), "", &Value::Null).await
    }

    /// Applies a specification.
    async fn apply(&self, version: &str, name: &str, manager: &str, spec: Value) -> Value {
        let api_version = format!("versions.example.com/{version}");
        let object = json!({"apiVersion": api_version, "kind": "Gauge", "metadata": {"name": name}, "spec": spec});
        let path = format!("{}?fieldManager={manager}&force=true", path(version, name));
        let (code, answer) = self.send("PATCH", &path, "application/apply-patch+yaml", &object).await;
        assert!(code == 200, "{answer}");
        answer
    }

    /// Sends a JSON merge patch of an object or of its scale.
    async fn merge(&self, version: &str, name: &str, manager: &str, patch: Value) -> (u16, Value) {
        let path = format!("{}?fieldManager={manager}", path(version, name));
        self.send("PATCH", &path, "application/merge-patch+json", &patch).await
    }
}

fn path(version: &str, name: &str) -> String {
    let path = format!("/apis/versions.example.com/{version}/namespaces/default/gauges/{name}");
    path.replace("/?", "?").trim_end_matches('/').to_owned()
}

/// Returns the managed fields as `manager version: fields`, ordered by manager.
fn managed_fields(object: &Value) -> Vec<String> {
    let line = |entry: &Value| {
        let version = entry["apiVersion"].as_str().unwrap().rsplit('/').next().unwrap();
        format!("{} {version}: {}", entry["manager"].as_str().unwrap(), entry["fieldsV1"])
    };
    let mut lines: Vec<String> = object["metadata"]["managedFields"].as_array().unwrap().iter().map(line).collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn writes_are_visible_in_all_versions() {
    let server = Server::start();
    let gauges = Gauges::start(&server).await;

    // A field that the stored version lacks is absent from the response.
    let first = gauges.apply("v2", "a", "one", json!({"size": 1, "count": 2, "note": "mine"})).await;
    assert_eq!(first["spec"], json!({"size": 1, "count": 2}));
    assert_eq!(gauges.get("v1", "a").await.1["spec"], json!({"size": 1, "replicas": 2}));

    // An apply without changes is not a write, even when its version has defaults.
    let first = gauges.apply("v2", "b", "one", json!({"size": 1})).await;
    assert_eq!(gauges.apply("v2", "b", "one", json!({"size": 1})).await, first);

    // The scale's manager owns the replicas, in whichever version a manager owned them before.
    gauges.apply("v1", "c", "one", json!({"size": 1, "replicas": 2})).await;
    let scaled = gauges.merge("v2", "c/scale", "two", json!({"spec": {"replicas": 3}})).await.1;
    assert_eq!(scaled["spec"]["replicas"], 3);
    let (_, object) = gauges.get("v1", "c").await;
    assert_eq!(object["spec"], json!({"size": 1, "replicas": 3}));
    assert_eq!(
        managed_fields(&object),
        [r#"one v1: {"f:spec":{"f:size":{}}}"#, r#"two v2: {"f:spec":{"f:count":{}}}"#]
    );

    // Expressions compute fields from others, in both directions.
    gauges.apply("v1", "d", "one", json!({"width": 3, "height": 4})).await;
    assert_eq!(gauges.get("v2", "d").await.1["spec"], json!({"sides": "3x4"}));
    let (code, patched) = gauges.merge("v2", "d", "two", json!({"spec": {"sides": "5x4"}})).await;
    assert_eq!((code, &patched["spec"]), (200, &json!({"sides": "5x4"})));
    let (_, object) = gauges.get("v1", "d").await;
    assert_eq!(object["spec"], json!({"width": 5, "height": 4}));
    assert_eq!(managed_fields(&object)[0], r#"one v1: {"f:spec":{"f:height":{}}}"#);
    let (code, error) = gauges.merge("v2", "d", "two", json!({"spec": {"sides": "wide"}})).await;
    assert_eq!(
        (code, error.as_str()),
        (500, Some("conversion from v2 to v1 failed: spec.height: index out of bounds: 1"))
    );

    // Selectors use the fields of the requested version.
    for (version, selector, expect) in [
        ("v1", "spec.replicas=3", vec!["c"]),
        ("v2", "spec.count=3", vec!["c"]),
        ("v2", "spec.count!=3,spec.size=1", vec!["a", "b"]),
        ("v2", "spec.sides=5x4", vec!["d"]),
        ("v1", "spec.width=5,spec.height=4", vec!["d"]),
    ] {
        let (_, list) = gauges.get(version, &format!("?fieldSelector={selector}")).await;
        let names: Vec<&str> =
            list["items"].as_array().unwrap().iter().map(|o| o["metadata"]["name"].as_str().unwrap()).collect();
        assert_eq!(names, expect, "{version} {selector}");
    }
}

#[tokio::test]
async fn managed_fields_survive_failing_conversion_webhook() {
    let server = Server::start();
    let gauges = Gauges::start(&server).await;
    gauges.apply("v2", "a", "one", json!({"size": 1})).await;
    let client = json!({"url": "https://127.0.0.1:1/convert"});
    let webhook = json!({"clientConfig": client, "conversionReviewVersions": ["v1"]});
    let conversion = json!({"strategy": "Webhook", "webhook": webhook});
    let patch = json!({"metadata": {"annotations": null}, "spec": {"conversion": conversion}});
    let definition = format!("{DEFINITIONS}/gauges.versions.example.com");
    let (code, changed) = gauges.send("PATCH", &definition, "application/merge-patch+json", &patch).await;
    assert_eq!(code, 200, "{changed}");

    const WHY: &str = "conversion webhook for versions.example.com/v1, Kind=Gauge failed: Post \"https://127.0.0.1:1/convert?timeout=30s\": dial tcp 127.0.0.1:1: connect: connection refused";
    while gauges.get("v2", "a").await.0 == 200 {
        tokio::task::yield_now().await;
    }
    assert_eq!(gauges.get("v2", "a").await, (500, json!(WHY)));
    let (code, object) = gauges.merge("v1", "a", "two", json!({"spec": {"replicas": 5}})).await;
    assert_eq!(code, 200, "{object}");
    assert_eq!(
        managed_fields(&object),
        [r#"one v2: {"f:spec":{"f:size":{}}}"#, r#"two v1: {"f:spec":{"f:replicas":{}}}"#]
    );
    // An apply without knowledge of other managers' fields would take them over.
    let to = format!("{}?fieldManager=three", path("v1", "a"));
    let object = json!({"apiVersion": "versions.example.com/v1", "kind": "Gauge", "metadata": {"name": "a"}, "spec": {"size": 2}});
    let refused = gauges.send("PATCH", &to, "application/apply-patch+yaml", &object).await;
    assert_eq!(refused, (500, json!(WHY)));
}
