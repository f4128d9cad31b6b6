//! Paths without a route. Each of them once reached an object of another scope than the authorized
//! one.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use crate::support::{ADMIN, APPLY_PATCH, JSON, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, Target};

/// Starts a server on which mallory has all rights in `team-a` and none in `team-b`.
async fn target() -> Target {
    let target = Target::start(&[]);
    target.create_namespace("team-a").await;
    target.create_namespace("team-b").await;
    let everything = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
    target.grant("mallory", "team-a", everything).await;
    target.await_right("mallory", "/api/v1/namespaces/team-a/configmaps").await;
    target
}

/// Finding A1.
#[tokio::test]
async fn rejects_cluster_scoped_path_below_a_namespace() {
    let target = target().await;
    let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-b", "labels": {"owner": "mallory"}}});
    let merge = json!({"metadata": {"labels": {"owner": "mallory"}}});
    let patch = json!([{"op": "add", "path": "/metadata/labels/owner", "value": "mallory"}]);
    for path in ["namespaces/team-b", "namespaces/team-b/status", "namespaces/team-b/finalize", "namespaces"] {
        let path = format!("/api/v1/namespaces/team-a/{path}");
        for (method, media_type, body) in [
            (Method::GET, JSON, String::new()),
            (Method::HEAD, JSON, String::new()),
            (Method::POST, JSON, body.to_string().replace("team-b", "team-c")),
            (Method::PUT, JSON, body.to_string()),
            (Method::PATCH, MERGE_PATCH, merge.to_string()),
            (Method::PATCH, STRATEGIC_PATCH, merge.to_string()),
            (Method::PATCH, JSON_PATCH, patch.to_string()),
            (Method::PATCH, APPLY_PATCH, body.to_string()),
            (Method::DELETE, JSON, String::new()),
        ] {
            let query = if media_type == APPLY_PATCH { "?fieldManager=m&force=true" } else { "" };
            for user in ["mallory", ADMIN] {
                let answer =
                    target.send(user, method.clone(), &format!("{path}{query}"), media_type, body.clone()).await;
                assert_eq!(answer.code, 404, "{user}: {method} {path}: {}", answer.body);
            }
        }
    }
    let namespace = target.get(ADMIN, "/api/v1/namespaces/team-b").await.body;
    assert_eq!(namespace["metadata"]["labels"]["owner"], json!(null));
    assert_eq!(namespace["status"]["phase"], "Active");
    assert_eq!(target.get(ADMIN, "/api/v1/namespaces/team-c").await.code, 404);
    target.assert_alive().await;
}

/// Finding A1, for lists and watches, whose responses are streams.
#[tokio::test]
async fn rejects_watch_of_cluster_scoped_objects_below_a_namespace() {
    let target = target().await;
    for path in [
        "/api/v1/watch/namespaces/team-a/namespaces",
        "/api/v1/watch/namespaces/team-a/namespaces/team-b",
        "/api/v1/namespaces/team-a/namespaces?watch=1&timeoutSeconds=1",
        "/api/v1/namespaces/team-a/namespaces?fieldSelector=metadata.name%3Dteam-b",
        "/api/v1/namespaces/team-a/nodes",
        "/api/v1/watch/namespaces/team-a/nodes",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/team-a/clusterroles",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/team-a/clusterroles/cluster-admin",
        "/apis/apps/v1/namespaces/team-a",
    ] {
        let request = target.request("mallory", Method::GET, path).timeout(Duration::from_secs(60));
        assert_eq!(request.send().await.unwrap().status(), 404, "{path}");
    }
}

/// Finding A1: slashes and escapes do not turn an unrouted path into a routed one.
#[tokio::test]
async fn rejects_escaped_forms_of_unrouted_paths() {
    let target = target().await;
    for path in [
        "/api/v1/namespaces/team-a/namespaces%2Fteam-b",
        "/api/v1/namespaces%2Fteam-a/namespaces/team-b/",
        "/api/v1/namespaces/team-a//namespaces/team-b",
        "/api/v1/namespaces/team-a/./namespaces/team-b",
        "/%61pi/v1/namespaces/team-a/%6Eamespaces/team-b",
    ] {
        let path = path.replace("/./", "/%2E/");
        let answer = target.get("mallory", &path).await;
        assert!([403, 404].contains(&answer.code), "{path}: {} {}", answer.code, answer.body);
    }
}

/// Responses to methods and paths outside of resources equal those of kube-apiserver 1.36.2.
#[tokio::test]
async fn responses_to_other_methods_match_upstream() {
    let target = Target::start(&[]);
    let code = async |method: &str, path: &str| {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        target.request(ADMIN, method, path).send().await.unwrap().status().as_u16()
    };
    for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        for path in ["/apis", "/apis/", "/apis/apps", "/apis/apps/", "/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1"]
        {
            assert_eq!(code(method, path).await, 200, "{method} {path}");
        }
        for path in ["/api", "/api/v1", "/apis/apps/v1", "/version", "/version/"] {
            assert_eq!(code(method, path).await, if method == "GET" { 200 } else { 405 }, "{method} {path}");
        }
        for path in ["/apis//", "/apis//v1"] {
            assert_eq!(code(method, path).await, 404, "{method} {path}");
        }
    }
    let watch = "/api/v1/watch/namespaces/default/configmaps/..?timeoutSeconds=1";
    assert_eq!(code("GET", watch).await, 200);
}

/// The component status list has no store; selectors, names and tables work as for stored objects.
#[tokio::test]
async fn lists_component_statuses() {
    let target = Target::start(&[]);
    let path = "/api/v1/componentstatuses";
    let list = target.get(ADMIN, path).await;
    assert_eq!((list.code, &list.body["metadata"]), (200, &json!({})), "{}", list.body);
    let items = list.body["items"].as_array().unwrap();
    let names: Vec<_> = items.iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["controller-manager", "etcd-0", "scheduler"]);
    let healthy = json!([{"type": "Healthy", "status": "True", "message": "ok"}]);
    let store = target.get(ADMIN, &format!("{path}/etcd-0")).await;
    let expect = json!({
        "kind": "ComponentStatus", "apiVersion": "v1", "metadata": {"name": "etcd-0"}, "conditions": healthy,
    });
    assert_eq!(store.body, expect);
    let none = target.get(ADMIN, &format!("{path}/none")).await;
    assert_eq!((none.code, none.body["message"].as_str()), (404, Some("componentstatus \"none\" not found")));
    for (query, count) in [("labelSelector=a%3Db", 0), ("fieldSelector=metadata.name%3Detcd-0", 1), ("limit=1", 3)] {
        let selected = target.get(ADMIN, &format!("{path}?{query}")).await;
        assert_eq!(selected.body["items"].as_array().unwrap().len(), count, "{query}");
    }
    let table =
        target.request(ADMIN, Method::GET, path).header("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
    let response = table.send().await.unwrap();
    let warning = response.headers()["warning"].to_str().unwrap().to_owned();
    assert!(warning.contains("v1 ComponentStatus is deprecated in v1.19+"), "{warning}");
    let table: serde_json::Value = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
    assert_eq!(table["rows"][1]["cells"], json!(["etcd-0", "Healthy", "ok", ""]), "{table}");
    assert_eq!(target.send(ADMIN, Method::POST, path, JSON, "{}").await.code, 405);
}

/// A POST to the path of a custom object is authorized for that name, and creates only an object of
/// that name.
#[tokio::test]
async fn post_to_custom_object_path_creates_only_that_object() {
    let target = Target::start(&[]);
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let definition = json!({
        "metadata": {"name": "pandas.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "pandas", "kind": "Panda"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
        },
    });
    target.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition).await;
    let pandas = "/apis/example.com/v1/namespaces/default/pandas";
    target.await_right(ADMIN, pandas).await;
    let panda =
        |name: &str| json!({"apiVersion": "example.com/v1", "kind": "Panda", "metadata": {"name": name}}).to_string();
    let refused = target.send(ADMIN, Method::POST, &format!("{pandas}/bao"), JSON, panda("other")).await;
    assert_eq!(refused.code, 400, "{}", refused.body);
    let created = target.send(ADMIN, Method::POST, &format!("{pandas}/bao"), JSON, panda("bao")).await;
    assert_eq!(created.code, 201, "{}", created.body);
}
