//! Field and label selectors of custom resources in a version that a webhook converts to: they
//! match the converted object.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "common/client.rs"]
mod client;
mod common;

use common::Server;
use common::converter::Converter;
use futures_util::{AsyncBufReadExt, TryStreamExt};
use http::Request;
use kube::Client;
use serde_json::{Value, json};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GROUP: &str = "hosts.example.com";

/// Converts between v1, which has `hostPort`, and v2, which has `host`, `port` and the port as a
/// label. A port that is not a number is an error.
fn convert(mut object: Value, api_version: &str) -> Result<Value, String> {
    let members = object.as_object_mut().unwrap();
    members.insert("apiVersion".into(), api_version.into());
    if api_version.ends_with("/v2") {
        let host_port = members.remove("hostPort").unwrap_or_default();
        let (host, port) = host_port.as_str().unwrap_or_default().split_once(':').unwrap_or_default();
        port.parse::<u16>().map_err(|_| format!("{port:?} is no port"))?;
        members.insert("host".into(), host.into());
        members.insert("port".into(), port.into());
        members["metadata"]["labels"] = json!({"port": port});
    } else {
        let mut part = |name: &str| members.remove(name).unwrap_or_default().as_str().unwrap_or_default().to_owned();
        let host_port = format!("{}:{}", part("host"), part("port"));
        members.insert("hostPort".into(), host_port.into());
        members["metadata"].as_object_mut().unwrap().remove("labels");
    }
    Ok(object)
}

fn version(name: &str, fields: &[&str]) -> Value {
    let properties: Value = fields.iter().map(|field| ((*field).to_owned(), json!({"type": "string"}))).collect();
    let selectable: Value = fields.iter().map(|field| json!({"jsonPath": format!(".{field}")})).collect();
    json!({
        "name": name, "served": true, "storage": name == "v1", "selectableFields": selectable,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
    })
}

/// A server with the kind `Host`, converted by the webhook.
struct Hosts {
    _server: Server,
    client: Client,
    webhook: Converter,
}

impl Hosts {
    async fn start() -> Self {
        let (server, webhook) = (Server::start(), Converter::start(convert).await);
        let hosts = Hosts { client: client::connect(&server).await, webhook, _server: server };
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("hosts.{GROUP}")},
            "spec": {
                "group": GROUP, "scope": "Namespaced", "names": {"plural": "hosts", "kind": "Host"},
                "versions": [version("v1", &["hostPort"]), version("v2", &["host", "port"])],
                "conversion": hosts.webhook.strategy(),
            },
        });
        hosts.send("POST", DEFINITIONS, &definition).await.unwrap();
        while hosts.names("v2", "").await.is_err() {
            tokio::task::yield_now().await;
        }
        hosts
    }

    /// Sends a request; returns the response, or the message of an error.
    async fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let media = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let request = Request::builder().method(method).uri(path).header("Content-Type", media);
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        match self.client.request_text(request.body(body).unwrap()).await {
            Ok(text) => Ok(serde_json::from_str(&text).unwrap()),
            Err(kube::Error::Api(status)) => Err(status.message),
            Err(other) => panic!("{method} {path}: {other}"),
        }
    }

    async fn create(&self, name: &str, host_port: &str) {
        let object = json!({"apiVersion": format!("{GROUP}/v1"), "kind": "Host", "metadata": {"name": name}, "hostPort": host_port});
        self.send("POST", &path("v1", "", ""), &object).await.unwrap();
    }

    /// Updates an object in v1.
    async fn change(&self, name: &str, host_port: &str) {
        self.send("PATCH", &path("v1", name, ""), &json!({"hostPort": host_port})).await.unwrap();
    }

    /// Returns the names in a list.
    async fn names(&self, version: &str, query: &str) -> Result<Vec<String>, String> {
        let list = self.send("GET", &path(version, "", query), &Value::Null).await?;
        Ok(list["items"].as_array().unwrap().iter().map(name).collect())
    }

    /// Starts a watch.
    async fn watch(&self, version: &str, query: &str) -> Watch {
        let path = path(version, "", &format!("watch=1&{query}"));
        let request = Request::builder().uri(path).body(Vec::new()).unwrap();
        Watch(Box::pin(self.client.request_stream(request).await.unwrap().lines()))
    }
}

fn path(version: &str, name: &str, query: &str) -> String {
    format!("/apis/{GROUP}/{version}/namespaces/default/hosts/{name}?{query}").replace("/?", "?")
}

fn name(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap().to_owned()
}

struct Watch(std::pin::Pin<Box<dyn futures_util::Stream<Item = std::io::Result<String>>>>);

impl Watch {
    /// Returns the next event: its type, and the object's name and host.
    async fn next(&mut self) -> String {
        let line = self.0.try_next().await.unwrap().expect("the watch continues");
        let event: Value = serde_json::from_str(&line).unwrap();
        let object = &event["object"];
        match event["type"].as_str().unwrap() {
            "ERROR" => format!("ERROR {}", object["message"].as_str().unwrap()),
            "BOOKMARK" => "BOOKMARK".into(),
            kind => format!("{kind} {} {}", name(object), object["host"].as_str().unwrap_or("-")),
        }
    }

    async fn expect(&mut self, events: &[&str]) {
        for event in events {
            assert_eq!(self.next().await, *event);
        }
    }
}

#[tokio::test]
async fn selectors_match_the_converted_object() {
    let hosts = Hosts::start().await;
    for (name, host_port) in [("a", "one:80"), ("b", "two:80"), ("c", "one:8080"), ("d", "three:80")] {
        hosts.create(name, host_port).await;
    }
    for (version, query, expect) in [
        ("v2", "fieldSelector=host=one", vec!["a", "c"]),
        ("v2", "fieldSelector=host=one,port=80", vec!["a"]),
        ("v2", "fieldSelector=host!=one", vec!["b", "d"]),
        ("v2", "fieldSelector=host!=one,metadata.name!=b", vec!["d"]),
        ("v2", "fieldSelector=host=one:80", vec![]),
        ("v2", "labelSelector=port=80", vec!["a", "b", "d"]),
        ("v2", "fieldSelector=host=one&resourceVersion=0", vec!["a", "c"]),
        ("v1", "fieldSelector=hostPort=one:80", vec!["a"]),
        ("v1", "labelSelector=port=80", vec![]),
    ] {
        assert_eq!(hosts.names(version, query).await.unwrap(), expect, "{version} {query}");
    }
    let refused = hosts.names("v2", "fieldSelector=hostPort=one:80").await;
    assert_eq!(refused, Err("field label not supported: hostPort".into()));

    // A page is filled up to its limit with matching objects.
    let page = hosts.send("GET", &path("v2", "", "limit=2&labelSelector=port=80"), &Value::Null).await.unwrap();
    assert_eq!(page["items"].as_array().unwrap().iter().map(name).collect::<Vec<_>>(), ["a", "b"]);
    let token = page["metadata"]["continue"].as_str().unwrap();
    hosts.create("e", "one:80").await;
    let rest = hosts.names("v2", &format!("limit=2&labelSelector=port=80&continue={token}")).await.unwrap();
    assert_eq!(rest, ["d"]);

    let deleted = path("v2", "", "fieldSelector=host=one,port=80");
    hosts.send("DELETE", &deleted, &Value::Null).await.unwrap();
    assert_eq!(hosts.names("v1", "").await.unwrap(), ["b", "c", "d"]);
}

#[tokio::test]
async fn watch_selectors_match_the_converted_object() {
    let hosts = Hosts::start().await;
    hosts.create("a", "one:80").await;
    hosts.create("b", "two:80").await;
    let mut fields = hosts.watch("v2", "fieldSelector=host=one").await;
    let mut labels = hosts.watch("v2", "labelSelector=port=80").await;
    let mut stored = hosts.watch("v1", "fieldSelector=hostPort=one:80").await;
    fields.expect(&["ADDED a one"]).await;
    labels.expect(&["ADDED a one", "ADDED b two"]).await;
    stored.expect(&["ADDED a -"]).await;

    hosts.change("a", "one:81").await;
    hosts.change("b", "one:80").await;
    hosts.change("a", "two:81").await;
    hosts.create("c", "three:80").await;
    hosts.send("DELETE", &path("v1", "b", ""), &Value::Null).await.unwrap();
    hosts.create("d", "one:80").await;
    fields.expect(&["MODIFIED a one", "ADDED b one", "DELETED a one", "DELETED b one", "ADDED d one"]).await;
    labels.expect(&["DELETED a one", "MODIFIED b one", "ADDED c three", "DELETED b one", "ADDED d one"]).await;
    stored.expect(&["DELETED a -", "ADDED b -", "DELETED b -", "ADDED d -"]).await;

    let from = hosts.send("GET", &path("v1", "", ""), &Value::Null).await.unwrap();
    let from = from["metadata"]["resourceVersion"].as_str().unwrap();
    let initial = format!(
        "fieldSelector=host=one&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion={from}"
    );
    hosts.watch("v2", &initial).await.expect(&["ADDED d one", "BOOKMARK"]).await;
}

#[tokio::test]
async fn slow_or_failing_webhook_does_not_delay_other_requests() {
    let hosts = Hosts::start().await;
    let mut watches = Vec::new();
    for _ in 0..6 {
        watches.push(hosts.watch("v2", "fieldSelector=host=one").await);
    }
    let mut stored = hosts.watch("v1", "").await;
    hosts.webhook.hold(true);
    let before = hosts.webhook.calls();
    hosts.create("a", "one:80").await;
    stored.expect(&["ADDED a -"]).await;
    // All watchers share one conversion call; later changes share the next one.
    for name in ["b", "c", "d"] {
        hosts.create(name, "one:80").await;
        stored.expect(&[&format!("ADDED {name} -")]).await;
    }
    assert_eq!(hosts.names("v1", "fieldSelector=hostPort=one:80").await.unwrap(), ["a", "b", "c", "d"]);
    hosts.webhook.hold(false);
    for watch in &mut watches {
        watch.expect(&["ADDED a one", "ADDED b one", "ADDED c one", "ADDED d one"]).await;
    }
    let calls = hosts.webhook.calls() - before;
    assert!(calls <= 4, "{calls} calls for four changes and six watchers");

    hosts.create("e", "one:none").await;
    stored.expect(&["ADDED e -"]).await;
    let error = "conversion webhook for hosts.example.com/v1, Kind=Host failed: \"none\" is no port";
    for watch in &mut watches {
        watch.expect(&[&format!("ERROR {error}")]).await;
    }
    assert_eq!(hosts.names("v2", "fieldSelector=host=one").await, Err(error.into()));
    assert_eq!(hosts.names("v1", "fieldSelector=hostPort=one:none").await.unwrap(), ["e"]);
    // An object excluded by its metadata is not converted.
    let narrow = "fieldSelector=host=one,metadata.name=a";
    assert_eq!(hosts.names("v2", narrow).await.unwrap(), ["a"]);
}
