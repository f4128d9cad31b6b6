//! Attacks on admission: requests that authorization allows and that an admission plugin must refuse.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{ADMIN, APPLY_PATCH, Answer, JSON, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, Target};

const NAMESPACE: &str = "team-a";
const PODS: &str = "/api/v1/namespaces/team-a/pods";
const MALLORY: &str = "mallory";

/// A server with a namespace in which `mallory` may do anything with pods.
async fn target(flags: &[&str]) -> Target {
    let target = Target::start(flags);
    target.create_namespace(NAMESPACE).await;
    let verbs = ["get", "create", "update", "patch", "delete"];
    let resources = ["pods", "pods/ephemeralcontainers", "pods/resize", "pods/status", "pods/binding", "pods/eviction"];
    target.grant(MALLORY, NAMESPACE, json!([{"apiGroups": [""], "resources": resources, "verbs": verbs}])).await;
    target
}

/// A body for each way to change an object: method, media type, query and body.
fn changes(object: &Value, field: &str) -> [(Method, &'static str, &'static str, Value); 5] {
    let mut replaced = object.clone();
    let added = replaced["spec"][field].clone();
    replaced["metadata"] = json!({"name": object["metadata"]["name"], "namespace": NAMESPACE});
    let partial = json!({"spec": {field: added}});
    let applied = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": object["metadata"]["name"]}, "spec": {field: added},
    });
    [
        (Method::PUT, JSON, "", replaced),
        (Method::PATCH, JSON_PATCH, "", json!([{"op": "add", "path": format!("/spec/{field}"), "value": added}])),
        (Method::PATCH, MERGE_PATCH, "", partial.clone()),
        (Method::PATCH, STRATEGIC_PATCH, "", partial),
        (Method::PATCH, APPLY_PATCH, "?fieldManager=mallory&force=true", applied),
    ]
}

fn assert_forbidden(answer: &Answer, what: &str, why: &str) {
    let message = answer.body["message"].as_str().unwrap_or_default();
    assert!(answer.code == 403 && message.contains(why), "{what}: {} {message}", answer.code);
}

/// A service account whose pods may use the secret `allowed` only.
async fn create_limited_account(target: &Target) {
    let account = json!({
        "metadata": {"name": "limited", "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}},
        "secrets": [{"name": "allowed"}],
        "imagePullSecrets": [{"name": "pull"}],
    });
    target.create("/api/v1/namespaces/team-a/serviceaccounts", &account).await;
}

fn pod_of(account: &str, name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {
            "serviceAccountName": account,
            "automountServiceAccountToken": false,
            "containers": [{"name": "main", "image": "i"}],
        },
    })
}

/// Pods that use a secret, one for each kind of reference.
fn references(secret: &str) -> Vec<(&'static str, Value)> {
    let reference = json!({"name": secret});
    let volume = |source: Value| {
        let mut volume = source;
        volume["name"] = json!("v");
        json!({"volumes": [volume]})
    };
    let env = json!([{"name": "A", "valueFrom": {"secretKeyRef": {"name": secret, "key": "k"}}}]);
    let env_from = json!([{"secretRef": reference}]);
    let container = |list: &str, uses: (&str, &Value)| json!({list: [{"name": "c", "image": "i", uses.0: uses.1}]});
    vec![
        ("volume", volume(json!({"secret": {"secretName": secret}}))),
        ("projected volume", volume(json!({"projected": {"sources": [{"secret": reference}]}}))),
        ("CSI volume", volume(json!({"csi": {"driver": "d.example.com", "nodePublishSecretRef": reference}}))),
        ("azureFile", volume(json!({"azureFile": {"secretName": secret, "shareName": "s"}}))),
        ("cephfs", volume(json!({"cephfs": {"monitors": ["m"], "secretRef": reference}}))),
        ("rbd", volume(json!({"rbd": {"monitors": ["m"], "image": "i", "secretRef": reference}}))),
        ("flexVolume", volume(json!({"flexVolume": {"driver": "example.com/d", "secretRef": reference}}))),
        ("cinder", volume(json!({"cinder": {"volumeID": "v", "secretRef": reference}}))),
        ("storageos", volume(json!({"storageos": {"volumeName": "v", "secretRef": reference}}))),
        (
            "scaleIO",
            volume(json!({"scaleIO": {"gateway": "g", "system": "s", "volumeName": "v", "secretRef": reference}})),
        ),
        (
            "iscsi",
            volume(json!({"iscsi": {
                "targetPortal": "10.0.0.1:3260", "iqn": "iqn.2024-01.com.example:s", "lun": 0,
                "chapAuthSession": true, "secretRef": reference,
            }})),
        ),
        ("env", container("containers", ("env", &env))),
        ("envFrom", container("containers", ("envFrom", &env_from))),
        ("env of an init container", container("initContainers", ("env", &env))),
        ("envFrom of an init container", container("initContainers", ("envFrom", &env_from))),
    ]
}

/// A pod of the limited account with the fields of a reference.
fn pod_with(name: &str, fields: &Value) -> Value {
    let mut pod = pod_of("limited", name);
    for (field, value) in fields.as_object().unwrap() {
        pod["spec"][field] = value.clone();
    }
    pod
}

/// Finding A5: a pod uses a secret that its account does not name, by each kind of reference.
#[tokio::test]
async fn refuses_every_reference_to_a_secret_that_is_not_mountable() {
    let target = target(&[]).await;
    create_limited_account(&target).await;
    for (index, (what, fields)) in references("stolen").into_iter().enumerate() {
        let pod = pod_with("evil", &fields);
        let created = target.send(MALLORY, Method::POST, PODS, JSON, pod.to_string()).await;
        assert_forbidden(&created, what, "does not reference that");
        let path = format!("{PODS}/evil-{index}?fieldManager=m");
        let applied = pod_with(&format!("evil-{index}"), &fields);
        let applied = target.send(MALLORY, Method::PATCH, &path, APPLY_PATCH, applied.to_string()).await;
        assert_forbidden(&applied, what, "does not reference that");
    }
    let mut pod = pod_of("limited", "evil");
    pod["spec"]["imagePullSecrets"] = json!([{"name": "allowed"}]);
    let created = target.send(MALLORY, Method::POST, PODS, JSON, pod.to_string()).await;
    assert_forbidden(&created, "pull secret", "does not reference that imagePullSecret");
    for (index, (what, fields)) in references("allowed").into_iter().enumerate() {
        let pod = pod_with(&format!("good-{index}"), &fields);
        let created = target.send(MALLORY, Method::POST, PODS, JSON, pod.to_string()).await;
        assert_eq!(created.code, 201, "{what}: {}", created.body);
    }
}

/// Finding A5 (CVE-2023-2728): an ephemeral container reads a secret that the pod's account does not name.
#[tokio::test]
async fn refuses_secrets_that_are_not_mountable_in_ephemeral_containers() {
    let target = target(&[]).await;
    create_limited_account(&target).await;
    let pod = target.create(PODS, &pod_of("limited", "running")).await;
    let path = format!("{PODS}/running/ephemeralcontainers");
    let debugger = |secret: &str, by: &str| {
        let mut container = json!({"name": "debug", "image": "i"});
        container[by] = match by {
            "env" => json!([{"name": "A", "valueFrom": {"secretKeyRef": {"name": secret, "key": "k"}}}]),
            _ => json!([{"secretRef": {"name": secret}}]),
        };
        let mut pod = pod.clone();
        pod["spec"]["ephemeralContainers"] = json!([container]);
        pod
    };
    for by in ["env", "envFrom"] {
        for (method, media_type, query, body) in changes(&debugger("stolen", by), "ephemeralContainers") {
            let path = format!("{path}{query}");
            let answer = target.send(MALLORY, method, &path, media_type, body.to_string()).await;
            assert_forbidden(&answer, media_type, "does not reference that secret");
        }
    }
    let [_, _, _, (method, media_type, _, body), _] = changes(&debugger("allowed", "env"), "ephemeralContainers");
    let answer = target.send(MALLORY, method, &path, media_type, body.to_string()).await;
    assert_eq!(answer.code, 200, "{}", answer.body);
    assert_eq!(target.get(ADMIN, &format!("{PODS}/running")).await.code, 200);
}
