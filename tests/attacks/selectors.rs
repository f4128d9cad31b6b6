//! Field selectors of lists, watches and deletecollections by users with access to one object.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{ADMIN, Target, answer};

const SECRETS: &str = "/api/v1/namespaces/team-a/secrets";

/// Starts a server with the secrets `allowed` and `secret`. Mallory may read and delete `allowed`.
async fn target() -> Target {
    let target = Target::start(&["--authorization-mode=Node,RBAC"]);
    target.create_namespace("team-a").await;
    for name in ["allowed", "secret"] {
        let secret = json!({"metadata": {"name": name, "labels": {"name": name}}, "stringData": {"key": "value"}});
        target.create(SECRETS, &secret).await;
    }
    let verbs = ["get", "list", "watch", "delete", "deletecollection"];
    let rule = json!([{"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["allowed"], "verbs": verbs}]);
    target.grant("mallory", "team-a", rule).await;
    target.await_right("mallory", &format!("{SECRETS}/allowed")).await;
    target
}

/// Returns the names of all objects in a response: of an object, the items of a list, or the events
/// of a watch, which ends after a second.
async fn names(target: &Target, user: &str, path: &str) -> (u16, Vec<String>) {
    let request = target.request(user, Method::GET, path).timeout(Duration::from_secs(60));
    let response = request.send().await.unwrap();
    let code = response.status().as_u16();
    let text = response.text().await.unwrap();
    let mut names = Vec::new();
    for document in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
        let Ok(document) = document else { break };
        let items = document["items"].as_array().cloned().unwrap_or_default();
        for object in items.iter().chain([&document, &document["object"]]) {
            names.extend(object["metadata"]["name"].as_str().map(str::to_owned));
        }
    }
    (code, names)
}

/// Fails when a response contains an object other than `allowed`.
async fn check(target: &Target, user: &str, path: &str) -> u16 {
    let (code, names) = names(target, user, path).await;
    assert!(names.iter().all(|name| name == "allowed"), "{path}: {code} {names:?}");
    code
}

const WATCH: &str = "timeoutSeconds=1";

/// Finding A2.
#[tokio::test]
async fn watch_path_name_limits_events() {
    let target = target().await;
    let path = "/api/v1/watch/namespaces/team-a/secrets/allowed";
    assert_eq!(names(&target, "mallory", &format!("{path}?{WATCH}")).await, (200, vec!["allowed".to_owned()]));
    assert_eq!(
        check(&target, "mallory", &format!("{path}?{WATCH}&fieldSelector=metadata.name%3Dallowed,type!%3Dx")).await,
        200
    );
    for selector in
        ["type!%3Dx", "metadata.name!%3Dx", "metadata.name%3Dsecret", "metadata.name%3D", "metadata.namespace%3Dteam-a"]
    {
        let code = check(&target, "mallory", &format!("{path}?{WATCH}&fieldSelector={selector}")).await;
        assert_eq!(code, 400, "{selector}");
    }
    for selector in
        ["labelSelector=name%3Dsecret", "fieldSelector=", "fieldSelector=,", "watch=0", "limit=1", "resourceVersion=0"]
    {
        assert_eq!(check(&target, "mallory", &format!("{path}?{WATCH}&{selector}")).await, 200, "{selector}");
    }
}

/// Finding A2, with a kubelet, whose rights come from the node authorizer.
#[tokio::test]
async fn kubelet_reads_only_secrets_of_its_pods() {
    let target = target().await;
    target.create("/api/v1/nodes", &json!({"metadata": {"name": "node-a"}})).await;
    let volume = json!({"name": "v", "secret": {"secretName": "allowed"}});
    let container = json!({"name": "c", "image": "i"});
    let pod = json!({"metadata": {"name": "p"}, "spec": {"nodeName": "node-a", "containers": [container], "volumes": [volume]}});
    target.create("/api/v1/namespaces/team-a/pods", &pod).await;
    let user = "system:node:node-a";
    target.await_right(user, &format!("{SECRETS}/allowed")).await;
    for path in [
        "/api/v1/watch/namespaces/team-a/secrets/allowed?timeoutSeconds=1&fieldSelector=type!%3Dx".to_owned(),
        "/api/v1/watch/namespaces/team-a/secrets/allowed?timeoutSeconds=1&fieldSelector=metadata.namespace%3Dteam-a"
            .to_owned(),
        format!("{SECRETS}?fieldSelector=metadata.name%3Dallowed;&fieldSelector=type!%3Dx"),
        format!("{SECRETS}?fieldSelector=metadata.name%3Dallowed%zz&fieldSelector=type!%3Dx"),
        format!("{SECRETS}?fieldSelector=type!%3Dx;&fieldSelector=metadata.name%3Dallowed"),
    ] {
        check(&target, user, &path).await;
    }
}

/// Queries in which two parsers can find different field selectors. Queries in which Go finds the
/// name `allowed` come first.
const AMBIGUOUS: [(&str, u16); 20] = [
    ("fieldSelector=metadata.name%3Dallowed&fieldSelector=type!%3Dx", 200),
    ("fieldSelector=type!%3Dx;a&fieldSelector=metadata.name%3Dallowed", 200),
    ("fieldSelector=type!%3Dx%zz&fieldSelector=metadata.name%3Dallowed", 200),
    ("fieldSelector=%&fieldSelector=metadata.name%3Dallowed", 200),
    ("field%53elector=metadata.name%3Dallowed&fieldSelector=type!%3Dx", 200),
    ("fieldSelector=metadata.name=allowed", 200),
    ("fieldSelector=metadata.name%3Dallowed,metadata.name%3Dsecret", 200),
    ("fieldSelector=metadata.name%3Dallowed&limit=1&continue=", 200),
    ("fieldSelector=metadata.name%3Dallowed&labelSelector=name%3Dsecret", 200),
    ("fieldSelector=metadata.name%3Dallowed;&fieldSelector=type!%3Dx", 403),
    ("fieldSelector=metadata.name%3Dallowed%zz&fieldSelector=type!%3Dx", 403),
    ("fieldSelector=&fieldSelector=metadata.name%3Dallowed", 403),
    ("fieldSelector=type!%3Dx&fieldSelector=metadata.name%3Dallowed", 403),
    ("fieldSelector=metadata.name%3Dallowed&x=1;fieldSelector=type!%3Dx&fieldSelector=,", 200),
    ("FieldSelector=metadata.name%3Dallowed", 403),
    ("fieldSelector%20=metadata.name%3Dallowed", 403),
    ("fieldSelector=metadata.name!%3Dsecret", 403),
    ("fieldSelector=metadata.name%3Dsecret,metadata.name%3Dallowed", 200),
    ("fieldSelector=metadata.name%3Dallowed&limit=x", 403),
    ("fieldSelector=metadata.name%3Dallowed&labelSelector=!!", 403),
];

/// Finding A3, for lists and watches.
#[tokio::test]
async fn authorization_and_list_use_the_same_field_selector() {
    let target = target().await;
    for (query, expect) in AMBIGUOUS {
        for watch in ["", "watch=1&timeoutSeconds=1&", "watch=false&watch=true&"] {
            let code = check(&target, "mallory", &format!("{SECRETS}?{watch}{query}")).await;
            assert_eq!(code, expect, "{watch}{query}");
        }
    }
}

/// Finding A3: a deletecollection has no name, so a right on one name does not authorize it.
#[tokio::test]
async fn right_on_one_name_does_not_authorize_deletecollection() {
    let target = target().await;
    for (query, _) in AMBIGUOUS {
        let deleted = answer(target.request("mallory", Method::DELETE, &format!("{SECRETS}?{query}"))).await;
        assert_eq!(deleted.code, 403, "{query}");
    }
    let (_, names) = names(&target, ADMIN, SECRETS).await;
    assert_eq!(names, ["allowed", "secret"]);
}

/// A continue token of another namespace or resource does not widen a list.
#[tokio::test]
async fn continue_token_of_another_list_does_not_widen_it() {
    let target = target().await;
    for namespace in ["team-0", "team-b"] {
        target.create_namespace(namespace).await;
        for name in ["one", "two"] {
            let secret = json!({"metadata": {"name": name}});
            target.create(&format!("/api/v1/namespaces/{namespace}/secrets"), &secret).await;
        }
    }
    let mut tokens = Vec::new();
    for path in [
        "/api/v1/secrets",
        "/api/v1/namespaces/team-0/secrets",
        "/api/v1/namespaces/team-b/secrets",
        "/api/v1/namespaces",
    ] {
        let page = target.get(ADMIN, &format!("{path}?limit=1")).await.body;
        tokens.push(page["metadata"]["continue"].as_str().unwrap().to_owned());
    }
    for token in tokens {
        for query in ["", "&limit=1", "&resourceVersion=0"] {
            let path = format!("{SECRETS}?fieldSelector=metadata.name%3Dallowed&continue={token}{query}");
            check(&target, "mallory", &path).await;
        }
    }
}
