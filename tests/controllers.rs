//! Behavior that controllers and kubectl rely on: the default ServiceCIDR, representations of a
//! Scale, options of evictions.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "common/client.rs"]
mod client;
mod common;

use common::Server;
use http::Request;
use kube::Client;
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";
const NETWORKING: &str = "/apis/networking.k8s.io/v1";

/// A running server and a client with its kubeconfig.
struct Cluster {
    client: Client,
    _server: Server,
}

impl Cluster {
    async fn start() -> Cluster {
        let server = Server::start();
        Cluster { client: client::connect(&server).await, _server: server }
    }

    /// Sends a request with these headers; returns the response, or the `Status` of a failure.
    async fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Value {
        let mut request = Request::builder().method(method).uri(path).header("Content-Type", "application/json");
        for (name, value) in headers {
            request
                .headers_mut()
                .unwrap()
                .insert(http::HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        match self.client.request::<Value>(request.body(body).unwrap()).await {
            Ok(answer) => answer,
            Err(kube::Error::Api(status)) => serde_json::to_value(status).unwrap(),
            Err(other) => panic!("{method} {path}: {other}"),
        }
    }

    async fn get(&self, path: &str) -> Value {
        self.request("GET", path, &[], &Value::Null).await
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        self.request("POST", path, &[], &body).await
    }

    async fn post_pod(&self, name: &str) {
        self.post("/api/v1/namespaces/default/serviceaccounts", json!({"metadata": {"name": "default"}})).await;
        let spec = json!({"containers": [{"name": "c", "image": "i"}]});
        let created = self.post(PODS, json!({"metadata": {"name": name}, "spec": spec})).await;
        assert_eq!(created["kind"], "Pod", "{created}");
    }
}

/// Conformance: "ServiceCIDR and IPAddress API".
#[tokio::test]
async fn default_service_cidr_is_ready() {
    let cluster = Cluster::start().await;
    let range = cluster.get(&format!("{NETWORKING}/servicecidrs/kubernetes")).await;
    assert_eq!(range["spec"], json!({"cidrs": ["10.0.0.0/24"]}));
    let ready = &range["status"]["conditions"][0];
    assert_eq!((&ready["type"], &ready["status"]), (&json!("Ready"), &json!("True")), "{range}");
    let managers = range["metadata"]["managedFields"].as_array().unwrap();
    let managers: Vec<&str> = managers.iter().map(|entry| entry["manager"].as_str().unwrap()).collect();
    assert_eq!(managers, ["kubernetes-service-cidr-controller", "kube-apiserver"]);
    let address = cluster.get(&format!("{NETWORKING}/ipaddresses/10.0.0.1")).await;
    let parent = json!({"resource": "services", "namespace": "default", "name": "kubernetes"});
    assert_eq!(address["spec"]["parentRef"], parent, "{address}");
}

#[tokio::test]
async fn services_get_addresses_only_of_ready_service_cidrs() {
    let cluster = Cluster::start().await;
    let service = |name: &str, address: &str| json!({"metadata": {"name": name}, "spec": {"clusterIP": address, "ports": [{"port": 80}]}});
    let services = "/api/v1/namespaces/default/services";
    let refused = cluster.post(services, service("a", "10.9.0.7")).await;
    assert!(refused["message"].as_str().unwrap().contains("does not match the current range"), "{refused}");
    let added = json!({"metadata": {"name": "added"}, "spec": {"cidrs": ["10.9.0.0/28"]}});
    cluster.post(&format!("{NETWORKING}/servicecidrs"), added).await;
    let created = cluster.post(services, service("a", "10.9.0.7")).await;
    assert_eq!(created["spec"]["clusterIP"], "10.9.0.7", "{created}");
    cluster.request("DELETE", &format!("{services}/a"), &[], &Value::Null).await;
    let gone = cluster.get(&format!("{NETWORKING}/ipaddresses/10.9.0.7")).await;
    assert_eq!(gone["code"], 404, "{gone}");
}

#[tokio::test]
async fn scale_is_served_as_table_and_partial_metadata() {
    let cluster = Cluster::start().await;
    let labels = json!({"a": "b"});
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = json!({"replicas": 3, "selector": {"matchLabels": labels}, "template": template});
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    cluster.post(deployments, json!({"metadata": {"name": "d"}, "spec": spec})).await;
    let scale = format!("{deployments}/d/scale");
    let form = |form: &str| format!("application/json;as={form};g=meta.k8s.io;v=v1");
    let table = cluster.request("GET", &scale, &[("Accept", &form("Table"))], &Value::Null).await;
    let columns: Vec<&Value> = table["columnDefinitions"].as_array().unwrap().iter().map(|c| &c["name"]).collect();
    assert_eq!(columns, ["Name", "Desired", "Available", "Age"]);
    assert_eq!(table["rows"][0]["cells"].as_array().unwrap()[..3], [json!("d"), json!(3), json!(0)]);
    let metadata = cluster.request("GET", &scale, &[("Accept", &form("PartialObjectMetadata"))], &Value::Null).await;
    assert_eq!((&metadata["kind"], &metadata["metadata"]["name"]), (&json!("PartialObjectMetadata"), &json!("d")));
    assert!(metadata.get("spec").is_none(), "{metadata}");
    let list = cluster.request("GET", &scale, &[("Accept", &form("PartialObjectMetadataList"))], &Value::Null).await;
    assert_eq!(list["code"], 406, "{list}");
}

#[tokio::test]
async fn eviction_with_unknown_options_is_rejected() {
    let cluster = Cluster::start().await;
    cluster.post_pod("p").await;
    for options in [json!({"dryRun": ["foo"]}), json!({"propagationPolicy": "foo"})] {
        let eviction = json!({"metadata": {"name": "p"}, "deleteOptions": options});
        let refused = cluster.post(&format!("{PODS}/p/eviction"), eviction).await;
        assert_eq!(refused["code"], 422, "{refused}");
    }
    assert_eq!(cluster.get(&format!("{PODS}/p")).await["metadata"]["name"], "p");
}

#[tokio::test]
async fn namespace_with_generated_name_has_its_label() {
    let cluster = Cluster::start().await;
    let created = cluster.post("/api/v1/namespaces", json!({"metadata": {"generateName": "gen-"}})).await;
    assert_eq!(created["metadata"]["labels"]["kubernetes.io/metadata.name"], created["metadata"]["name"], "{created}");
}

/// The garbage collector changes finalizers and owners of roles with rights that it does not hold
/// (`IsOnlyMutatingGCFields`).
#[tokio::test]
async fn finalizers_of_roles_change_without_escalation_check() {
    const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
    let cluster = Cluster::start().await;
    let rule = |group: &str, resources: Value, verbs: Value| json!({"apiGroups": [group], "resources": resources, "verbs": verbs});
    let role = |name: &str, rule: Value| json!({"metadata": {"name": name}, "rules": [rule]});
    let roles = format!("{RBAC}/clusterroles");
    cluster.post(&roles, role("strong", rule("", json!(["secrets"]), json!(["*"])))).await;
    let writes = rule("rbac.authorization.k8s.io", json!(["clusterroles", "clusterrolebindings"]), json!(["patch"]));
    cluster.post(&roles, role("collector", writes)).await;
    let bind = |role: &str, user: &str| {
        json!({
            "metadata": {"name": role},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
        })
    };
    let bindings = format!("{RBAC}/clusterrolebindings");
    cluster.post(&bindings, bind("strong", "root")).await;
    cluster.post(&bindings, bind("collector", "gc")).await;
    let patch = async |path: String, body: Value| {
        let headers = [("Content-Type", "application/merge-patch+json"), ("Impersonate-User", "gc")];
        cluster.request("PATCH", &path, &headers, &body).await
    };
    for path in [format!("{roles}/strong"), format!("{bindings}/strong")] {
        let finalizers = json!({"metadata": {"finalizers": ["example.com/kept"]}});
        let mut patched = patch(path.clone(), finalizers.clone()).await;
        // The authorizer learns of the binding by a watch.
        while patched["code"] == 403 && patched["message"].as_str().unwrap().contains("cannot patch resource") {
            patched = patch(path.clone(), finalizers.clone()).await;
        }
        assert_eq!(patched["metadata"]["finalizers"], json!(["example.com/kept"]), "{patched}");
        let labels = json!({"metadata": {"labels": {"a": "b"}}});
        assert_eq!(patch(path, labels).await["code"], 403, "a label needs the rights");
    }
}
