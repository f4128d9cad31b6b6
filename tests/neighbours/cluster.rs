//! State that the servers of a cluster share: custom resource definitions, and the endpoints of the
//! `kubernetes` service.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::api::Api;

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// Maximum time until a server observes a write through another one.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Waits until a condition holds.
pub async fn until<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let begin = Instant::now();
    while !holds().await {
        assert!(begin.elapsed() < TIMEOUT, "{what}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Returns a definition; `more` are properties in addition to `data`.
fn definition(plural: &str, kind: &str, more: Value) -> Value {
    let mut properties = json!({"data": {"type": "object", "additionalProperties": {"type": "string"}}});
    properties.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": properties}});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.com")}, "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}]}})
}

/// Creates the custom resource definition of the other modules at one server; returns its path once
/// both serve it.
pub async fn define(one: &Api, other: &Api) -> String {
    one.create(CRDS, &definition("neighbours", "Neighbour", json!({}))).await;
    let path = "/apis/example.com/v1/neighbours";
    for server in [one, other] {
        until("a defined resource is served", || async { server.code(path).await == 200 }).await;
    }
    path.to_owned()
}

/// One server creates a definition, the other changes and deletes it; both serve each state.
pub async fn definitions(one: &Api, other: &Api, round: &str) {
    let plural = format!("{}{}", one.name, round.replace('-', ""));
    let (crd, path) =
        (format!("{CRDS}/{plural}.example.com"), format!("/apis/example.com/v1/namespaces/default/{plural}"));
    one.create(CRDS, &definition(&plural, "Passing", json!({}))).await;
    for server in [one, other] {
        until("a definition is served", || async { server.code(&path).await == 200 }).await;
    }
    let object = json!({"apiVersion": "example.com/v1", "kind": "Passing", "metadata": {"name": "a"},
        "data": {"a": "1"}, "size": 1});
    let created = one.create(&path, &object).await;
    assert_eq!(created["size"], Value::Null, "{}: unknown fields are pruned", one.name);
    let schema = json!({"size": {"type": "integer", "maximum": 3}});
    let changed = definition(&plural, "Passing", schema);
    other.merge(&crd, &json!({"spec": {"versions": changed["spec"]["versions"]}})).await;
    for server in [one, other] {
        let path = format!("{path}/a");
        until("a changed schema is applied", || async { server.merge(&path, &json!({"size": 2})).await["size"] == 2 })
            .await;
    }
    let (here, there) = (one.get(&format!("{path}/a")).await, other.get(&format!("{path}/a")).await);
    assert_eq!(here, there);
    other.delete(&crd).await;
    for server in [one, other] {
        until("a deleted definition is gone", || async { server.code(&crd).await == 404 }).await;
        until("nothing is served of it", || async { server.code(&path).await == 404 }).await;
    }
}

/// Returns the addresses of the `kubernetes` service.
pub async fn servers(api: &Api) -> Vec<String> {
    let endpoints = api.get("/api/v1/namespaces/default/endpoints/kubernetes").await;
    let slice = api.get("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes").await;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of_endpoints = endpoints["subsets"].as_array().into_iter().flatten();
    let of_endpoints = of_endpoints.flat_map(|subset| subset["addresses"].as_array().unwrap().iter());
    let mut all: Vec<String> = of_endpoints.map(|address| text(&address["ip"])).collect();
    let mut sliced: Vec<String> =
        slice["endpoints"].as_array().into_iter().flatten().map(|endpoint| text(&endpoint["addresses"][0])).collect();
    all.sort();
    sliced.sort();
    if all == sliced { all } else { Vec::new() }
}

/// Checks that the service has exactly these addresses, and that each server has an identity lease.
pub async fn check_endpoints(api: &Api, addresses: &[&str]) {
    until(&format!("{}: the service leads to {addresses:?}", api.name), || async { servers(api).await == addresses })
        .await;
    let leases = api.get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases").await;
    let identities = leases["items"].as_array().unwrap().iter();
    let identities =
        identities.filter(|lease| lease["metadata"]["labels"]["apiserver.kubernetes.io/identity"] == "kube-apiserver");
    assert!(identities.count() >= addresses.len(), "{leases}");
}
