//! CBOR in requests and responses (KEP-4222), with and without the feature gate.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "common/client.rs"]
mod client;
mod common;

use common::Server;
use http::{Method, Request};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams};
use kube::client::Body;
use machinery::cbor;
use serde_json::{Value, json};

const CBOR: &str = "application/cbor";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn encoded(document: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    cbor::encode_value(document, &mut out);
    out
}

/// Returns status code, media type and body of a response.
async fn send(
    client: &kube::Client,
    method: Method,
    path: &str,
    types: (&str, &str),
    body: Vec<u8>,
) -> (u16, String, Vec<u8>) {
    let (content_type, accept) = types;
    let request =
        Request::builder().method(method).uri(path).header("Content-Type", content_type).header("Accept", accept);
    let response = client.send(request.body(Body::from(body)).unwrap()).await.unwrap();
    let media_type = response.headers()["content-type"].to_str().unwrap().to_owned();
    let code = response.status().as_u16();
    (code, media_type, response.into_body().collect_bytes().await.unwrap().to_vec())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cbor_requests_and_responses() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_with(folder.path(), &["--feature-gates=CBORServingAndStorage=true"]);
    let client = client::connect(&server).await;
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"key": "value"}, "binaryData": {"b": "AAEC"}});
    let (code, media_type, created) = send(&client, Method::POST, MAPS, (CBOR, CBOR), encoded(&map)).await;
    assert_eq!((code, &*media_type), (201, CBOR));
    let created = cbor::to_value(&created).unwrap();
    assert_eq!((&created["data"], &created["binaryData"]), (&map["data"], &map["binaryData"]));
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    assert_eq!(
        serde_json::to_value(maps.get("a").await.unwrap()).unwrap()["metadata"]["uid"],
        created["metadata"]["uid"]
    );

    let (code, _, list) = send(&client, Method::GET, MAPS, ("", CBOR), Vec::new()).await;
    let list = cbor::to_value(&list).unwrap();
    assert_eq!((code, &list["kind"]), (200, &json!("ConfigMapList")));
    assert_eq!(list["items"].as_array().unwrap().len(), maps.list(&ListParams::default()).await.unwrap().items.len());

    let apply = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"other": "value"}});
    let path = format!("{MAPS}/a?fieldManager=test");
    let (code, _, applied) =
        send(&client, Method::PATCH, &path, ("application/apply-patch+cbor", CBOR), encoded(&apply)).await;
    assert_eq!((code, &cbor::to_value(&applied).unwrap()["data"]), (200, &json!({"key": "value", "other": "value"})));

    let version = &created["metadata"]["resourceVersion"].as_str().unwrap();
    let path = format!("{MAPS}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Da&resourceVersion={version}");
    let (code, media_type, event) = send(&client, Method::GET, &path, ("", CBOR), Vec::new()).await;
    assert_eq!((code, &*media_type), (200, "application/cbor-seq"));
    let event = cbor::to_value(&event).unwrap();
    assert_eq!((&event["type"], &event["object"]["data"]["other"]), (&json!("MODIFIED"), &json!("value")));

    let (code, media_type, status) = send(&client, Method::GET, &format!("{MAPS}/none"), ("", CBOR), Vec::new()).await;
    assert_eq!((code, &*media_type, &cbor::to_value(&status).unwrap()["reason"]), (404, CBOR, &json!("NotFound")));
    let (code, _, status) = send(&client, Method::POST, MAPS, (CBOR, ""), vec![0xa1]).await;
    let message = serde_json::from_slice::<Value>(&status).unwrap()["message"].to_string();
    assert!(code == 400 && message.contains("unrecognized"), "{message}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cbor_is_rejected_without_feature_gate() {
    let server = Server::start();
    let client = client::connect(&server).await;
    let code = async |method, path: &str, types| send(&client, method, path, types, encoded(&json!({}))).await.0;
    assert_eq!(code(Method::GET, MAPS, ("", CBOR)).await, 406);
    assert_eq!(code(Method::POST, MAPS, (CBOR, "")).await, 415);
    assert_eq!(code(Method::PATCH, &format!("{MAPS}/a"), ("application/apply-patch+cbor", "")).await, 415);
}
