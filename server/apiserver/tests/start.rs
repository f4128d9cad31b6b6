//! Starts and stops of a server: the order of delegation, readiness, shutdown, and configurations that
//! are refused.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::sync::Arc;

use apiserver::{Admission, AdmissionAttributes, Client, InProcess, Owned, Server, Status, Store, async_trait};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use storage::EmbeddedStore;

/// A server with Kubernetes' kinds, without their controllers.
fn server() -> Server {
    Server::delegating("test-server", kubernetes::catalog())
}

fn start(server: Server) -> (InProcess, Client) {
    let running = server.start().unwrap();
    let client = running.client().unwrap();
    (running, client)
}

async fn get(client: &Client, path: &str) -> (StatusCode, Value) {
    client.send(Method::GET, path, &Value::Null).await.unwrap()
}

async fn post(client: &Client, path: &str, body: &Value) -> (StatusCode, Value) {
    client.send(Method::POST, path, body).await.unwrap()
}

/// Waits until a path answers with 200 and a body of which `holds` is true. The controllers of definitions
/// and of API services work beside the requests.
async fn await_answer(client: &Client, path: &str, holds: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..1000 {
        // The answer to an unknown path is no JSON.
        if let Ok((StatusCode::OK, answer)) = client.send(Method::GET, path, &Value::Null).await
            && holds(&answer)
        {
            return answer;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("{path} does not answer as expected");
}

fn definition(plural: &str, kind: &str, group: &str) -> Value {
    let schema = json!({ "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.{group}") },
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": { "plural": plural, "kind": kind },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": schema }],
        },
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_reach_the_server_that_has_the_resource() {
    let (_running, client) = start(server());
    let map = json!({ "metadata": { "name": "a" }, "data": { "k": "v" } });
    assert_eq!(post(&client, "/api/v1/namespaces/n/configmaps", &map).await.0, StatusCode::CREATED);
    assert_eq!(get(&client, "/api/v1/namespaces/n/configmaps/a").await.1["data"], json!({ "k": "v" }));
    assert_eq!(get(&client, "/apis/apiregistration.k8s.io/v1/apiservices").await.0, StatusCode::OK);
    assert_eq!(get(&client, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions").await.0, StatusCode::OK);
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let (code, answer) = post(&client, definitions, &definition("widgets", "Widget", "example.com")).await;
    assert_eq!(code, StatusCode::CREATED, "{answer}");
    let widget = json!({ "apiVersion": "example.com/v1", "kind": "Widget", "metadata": { "name": "w" }, "size": 1 });
    let widgets = "/apis/example.com/v1/namespaces/n/widgets";
    await_answer(&client, widgets, |_| true).await;
    let (code, answer) = post(&client, widgets, &widget).await;
    assert_eq!(code, StatusCode::CREATED, "{answer}");
    assert_eq!(get(&client, &format!("{widgets}/w")).await.1["size"], 1);
    // The outermost server serves the discovery of all.
    let expected = ["apiregistration.k8s.io", "apps", "apiextensions.k8s.io", "example.com"];
    let has = |answer: &Value, group: &str| answer["groups"].as_array().unwrap().iter().any(|g| g["name"] == group);
    await_answer(&client, "/apis", |answer| expected.iter().all(|group| has(answer, group))).await;
    // The chain ends with an answer that is no Status.
    assert_eq!(client.text("/apis/absent.example.com/v1/things").await.unwrap(), "404 page not found\n");
    let (code, answer) = get(&client, "/api/v1/namespaces/n/configmaps/b").await;
    assert_eq!((code, answer["message"].as_str()), (StatusCode::NOT_FOUND, Some(r#"configmaps "b" not found"#)));
}

#[tokio::test(flavor = "multi_thread")]
async fn runtime_configuration_selects_what_is_served() {
    let flags = ["--runtime-config=apps/v1/deployments=false,autoscaling/v1=false,api/beta=true"];
    let (_running, client) = start(server().flags(flags));
    let resources = |answer: &Value| -> Vec<String> {
        let all = answer["resources"].as_array().unwrap().iter();
        all.map(|resource| resource["name"].as_str().unwrap().to_owned()).collect()
    };
    let apps = resources(&get(&client, "/apis/apps/v1").await.1);
    assert!(apps.iter().any(|name| name == "daemonsets") && apps.iter().all(|name| name != "deployments"), "{apps:?}");
    let (_, groups) = get(&client, "/apis").await;
    let text = groups.to_string();
    assert!(!text.contains("autoscaling/v1\"") && text.contains("autoscaling/v2\""), "{text}");
    assert!(text.contains("resource.k8s.io/v1beta1"), "{text}");
}

#[test]
fn an_unknown_group_or_version_is_refused() {
    let refusal = |flag: &str| server().flags([flag]).start().map(drop).unwrap_err().to_string();
    let why = refusal("--runtime-config=odd/v1=true,another/v2=true,api/all=true");
    assert_eq!(why, "error: unknown api groups another/v2,odd/v1");
    let why = refusal("--runtime-config=apps/v9=true");
    assert_eq!(why, "error: group version apps/v9 that has not been registered");
}

#[test]
fn a_bad_configuration_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broken.yaml");
    std::fs::write(&file, "kind: [").unwrap();
    let absent = folder.path().join("absent.yaml");
    for flag in ["audit-policy-file", "encryption-provider-config", "tls-cert-file", "client-ca-file"] {
        for path in [&file, &absent] {
            let mut flags = vec![format!("--{flag}={}", path.display())];
            match flag {
                "audit-policy-file" => flags.push("--audit-log-path=-".into()),
                "tls-cert-file" => flags.push(format!("--tls-private-key-file={}", path.display())),
                _ => {}
            }
            let why = server().flags(flags).start().map(drop).unwrap_err().to_string();
            assert!(why.contains(path.to_str().unwrap()), "--{flag}: {why}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_started_server_is_ready_and_a_dropped_one_is_gone() {
    let (running, client) = start(server());
    for path in ["/readyz", "/livez", "/healthz"] {
        assert_eq!(client.text(path).await.unwrap(), "ok", "{path}");
    }
    let checks = client.text("/readyz?verbose").await.unwrap();
    for check in ["[+]ping ok", "[+]etcd ok", "[+]poststarthook/crd-informer-synced ok", "[+]shutdown ok"] {
        assert!(checks.contains(check), "{check}: {checks}");
    }
    tokio::task::spawn_blocking(move || drop(running)).await.unwrap();
    assert!(client.text("/readyz").await.is_err());
}

/// Rejects all objects with the name `no`.
struct Names;

#[async_trait]
impl Admission for Names {
    async fn admit(&self, attributes: &AdmissionAttributes, _: &mut Owned, _: Option<&Owned>) -> Result<(), Status> {
        match attributes.name.as_str() {
            "no" => Err(Status::bad_request("refused by name")),
            _ => Ok(()),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_and_admission_of_the_program_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(EmbeddedStore::open(folder.path().join("store")).unwrap());
    let (running, client) = start(server().store(store.clone()).admission(Names));
    let maps = "/api/v1/namespaces/n/configmaps";
    assert_eq!(post(&client, maps, &json!({ "metadata": { "name": "yes" } })).await.0, StatusCode::CREATED);
    let (code, answer) = post(&client, maps, &json!({ "metadata": { "name": "no" } })).await;
    assert_eq!((code, answer["message"].as_str()), (StatusCode::BAD_REQUEST, Some("refused by name")));
    let stored = |name: &str| format!("/registry/configmaps/n/{name}").into_bytes();
    assert!(store.get(&stored("yes"), None).await.unwrap().kv.is_some());
    assert!(store.get(&stored("no"), None).await.unwrap().kv.is_none());
    drop(client);
    tokio::task::spawn_blocking(move || drop(running)).await.unwrap();
    assert!(store.get(&stored("yes"), None).await.is_err(), "the server closes its store");
}
