//! Paths that no route has. Each of them once reached an object of another scope than the one that was authorized.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use crate::support::{ADMIN, APPLY_PATCH, JSON, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, Target};

/// A server on which mallory may do everything in `team-a`; `team-b` is not mallory's.
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

/// Finding A1, for lists and watches, whose answers are streams.
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

/// Finding A1: slashes and escapes make no other path of one that is not there.
#[tokio::test]
async fn rejects_escapes_of_a_path_that_is_not_there() {
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
