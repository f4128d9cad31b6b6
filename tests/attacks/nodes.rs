//! Kubelets that access objects of other nodes: finding A4, CVE-2025-4563, CVE-2025-5187.
//!
//! The attacker has the token of the kubelet of `node-a`, and nothing else unless stated.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{ADMIN, APPLY_PATCH, Answer, JSON, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, Target};

const KUBELET: &str = "system:node:node-a";
const FLAGS: [&str; 2] = ["--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction"];
const PODS: &str = "/api/v1/namespaces/shop/pods";
const CLAIMS: &str = "/apis/resource.k8s.io/v1/namespaces/shop/resourceclaims";
const SLICES: &str = "/apis/resource.k8s.io/v1/resourceslices";

/// Starts a server with the namespace `shop` and the nodes `node-a` and `node-b`.
async fn cluster() -> Target {
    let target = Target::start(&FLAGS);
    target.create_namespace("shop").await;
    for node in ["node-a", "node-b"] {
        target.create("/api/v1/nodes", &json!({"metadata": {"name": node}})).await;
    }
    target
}

/// Creates a pod on a node; `spec` is merged into its specification.
async fn create_pod(target: &Target, name: &str, node: &str, spec: Value) -> Value {
    let mut pod = json!({
        "metadata": {"name": name},
        "spec": {"nodeName": node, "containers": [{"name": "c", "image": "registry.example/image"}]},
    });
    pod["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    target.create(PODS, &pod).await
}

/// Repeats the request as the kubelet until the code is 200: the node authorizer learns of a pod by
/// a watch.
async fn wait_until_allowed(target: &Target, path: &str) {
    for _ in 0..600 {
        if target.get(KUBELET, path).await.code == 200 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the kubelet may not read {path}");
}

/// Sends a change by PUT and by every patch type; `change` is the JSON merge patch.
async fn change_every_way(target: &Target, path: &str, change: &Value) -> Vec<(&'static str, Answer)> {
    let stored = target.get(ADMIN, path.trim_end_matches("/status")).await.body;
    let mut replaced = stored.clone();
    merge(&mut replaced, change);
    let mut operations = Vec::new();
    json_patch("", change, &stored, &mut operations);
    let mut applied = change.clone();
    applied["apiVersion"] = stored["apiVersion"].clone();
    applied["kind"] = stored["kind"].clone();
    applied["metadata"]["name"] = stored["metadata"]["name"].clone();
    let apply = format!("{path}?fieldManager=mallory&force=true");
    let mut answers = Vec::new();
    for (media_type, method, path, body) in [
        (JSON, Method::PUT, path, replaced),
        (JSON_PATCH, Method::PATCH, path, json!(operations)),
        (MERGE_PATCH, Method::PATCH, path, change.clone()),
        (STRATEGIC_PATCH, Method::PATCH, path, change.clone()),
        (APPLY_PATCH, Method::PATCH, &apply, applied),
    ] {
        answers.push((media_type, target.send(KUBELET, method, path, media_type, body.to_string()).await));
    }
    answers
}

/// Fails unless every form of the change is rejected with 403.
async fn assert_forbidden(target: &Target, path: &str, change: Value) {
    for (media_type, answer) in change_every_way(target, path, &change).await {
        assert_eq!(answer.code, 403, "{path} by {media_type}: {change}: {}", answer.body);
    }
}

/// Applies a JSON merge patch (RFC 7396).
fn merge(into: &mut Value, change: &Value) {
    match (into, change) {
        (Value::Object(into), Value::Object(change)) => {
            for (key, value) in change {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, change) => *into = change.clone(),
    }
}

/// Converts the change to `add` operations of JSON patch.
fn json_patch(path: &str, change: &Value, stored: &Value, operations: &mut Vec<Value>) {
    for (key, value) in change.as_object().unwrap() {
        let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
        match (value, &stored[key]) {
            (Value::Object(_), there @ Value::Object(_)) => json_patch(&path, value, there, operations),
            _ => operations.push(json!({"op": "add", "path": path, "value": value})),
        }
    }
}

/// Finding A4, CVE-2025-4563: claim names in a pod's status give its kubelet the right to read
/// resource claims.
#[tokio::test]
async fn rejects_claims_and_labels_in_the_status_of_pods() {
    let target = cluster().await;
    let claims = json!({"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpus"}]});
    create_pod(&target, "web", "node-a", claims).await;
    create_pod(&target, "far", "node-b", json!({})).await;
    target.create(CLAIMS, &json!({"metadata": {"name": "victim"}, "spec": {}})).await;
    wait_until_allowed(&target, &format!("{PODS}/web")).await;
    let status = format!("{PODS}/web/status");
    let statuses = json!({"status": {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "victim"}]}});
    assert_forbidden(&target, &status, statuses).await;
    assert_forbidden(&target, &status, json!({"metadata": {"labels": {"app": "database"}}})).await;
    assert_forbidden(&target, &format!("{PODS}/far/status"), json!({"status": {"phase": "Failed"}})).await;
    let mapping = json!({"containerName": "c", "resourceName": "example.com/gpu", "requestName": "r"});
    let extended = json!({"resourceClaimName": "victim", "requestMappings": [mapping]});
    change_every_way(&target, &status, &json!({"status": {"extendedResourceClaimStatus": extended}})).await;
    let node = json!([{"resourceClaimName": "victim"}]);
    change_every_way(&target, &status, &json!({"status": {"nodeAllocatableResourceClaimStatuses": node}})).await;
    // The kubelet's report is accepted. Once the authorizer has it, it has all earlier changes.
    let report = json!({"status": {"phase": "Running", "podIP": "10.0.0.9", "podIPs": [{"ip": "10.0.0.9"}]}});
    for (media_type, answer) in change_every_way(&target, &status, &report).await {
        assert_eq!(answer.code, 200, "{media_type}: {}", answer.body);
    }
    let stored = target.get(ADMIN, &format!("{PODS}/web")).await.body;
    assert_eq!(stored["status"]["extendedResourceClaimStatus"], Value::Null);
    assert_eq!(stored["metadata"]["labels"], Value::Null);
    create_pod(&target, "last", "node-a", json!({})).await;
    wait_until_allowed(&target, &format!("{PODS}/last")).await;
    assert_eq!(target.get(KUBELET, &format!("{CLAIMS}/victim")).await.code, 403);
    target.assert_alive().await;
}

/// Finding A4: a kubelet writes slices of another node, or of all nodes.
#[tokio::test]
async fn rejects_slices_of_other_nodes() {
    let target = cluster().await;
    let slice = |name: &str, node: Value| {
        let pool = json!({"name": name, "generation": 1, "resourceSliceCount": 1});
        let mut slice = json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name},
            "spec": {"driver": "gpu.example.com", "pool": pool, "devices": [{"name": "d"}]},
        });
        slice["spec"].as_object_mut().unwrap().extend(node.as_object().unwrap().clone());
        slice
    };
    let (a, b) = (json!({"nodeName": "node-a"}), json!({"nodeName": "node-b"}));
    target.create(SLICES, &slice("b", b.clone())).await;
    for node in [&b, &json!({"allNodes": true}), &json!({"perDeviceNodeSelection": true})] {
        let body = slice("evil", node.clone());
        let posted = target.send(KUBELET, Method::POST, SLICES, JSON, body.to_string()).await;
        assert_eq!(posted.code, 403, "{node}: {}", posted.body);
        for (method, media_type, query) in [(Method::PUT, JSON, ""), (Method::PATCH, APPLY_PATCH, "?fieldManager=m")] {
            let path = format!("{SLICES}/evil{query}");
            let created = target.send(KUBELET, method, &path, media_type, body.to_string()).await;
            assert_eq!(created.code, 403, "{media_type} {node}: {}", created.body);
        }
    }
    let own = target.send(KUBELET, Method::POST, SLICES, JSON, slice("a", a).to_string()).await;
    assert_eq!(own.code, 201, "{}", own.body);
    wait_until_allowed(&target, &format!("{SLICES}/a")).await;
    for (media_type, answer) in change_every_way(&target, &format!("{SLICES}/a"), &json!({"spec": b})).await {
        assert!(matches!(answer.code, 403 | 422), "{media_type}: {}", answer.body);
    }
    assert_forbidden(&target, &format!("{SLICES}/b"), json!({"metadata": {"labels": {"a": "b"}}})).await;
    for (method, path) in [
        (Method::GET, format!("{SLICES}/b")),
        (Method::DELETE, format!("{SLICES}/b")),
        (Method::GET, SLICES.to_owned()),
        (Method::GET, format!("{SLICES}?fieldSelector=spec.nodeName%3Dnode-b")),
        (Method::DELETE, SLICES.to_owned()),
        (Method::DELETE, format!("{SLICES}?fieldSelector=spec.nodeName%3Dnode-b")),
    ] {
        let answer = target.send(KUBELET, method.clone(), &path, JSON, "").await;
        assert_eq!(answer.code, 403, "{method} {path}: {}", answer.body);
    }
    let selected = format!("{SLICES}?fieldSelector=spec.nodeName%3Dnode-a");
    let listed = target.get(KUBELET, &selected).await;
    assert_eq!(listed.body["items"].as_array().map(Vec::len), Some(1), "{}", listed.body);
    assert_eq!(target.send(KUBELET, Method::DELETE, &selected, JSON, "").await.code, 200);
    let rest = target.get(ADMIN, SLICES).await.body;
    assert_eq!(rest["items"].as_array().map(Vec::len), Some(1), "{rest}");
    target.assert_alive().await;
}

/// Client certificate requests of kubelets: node in the common name, and the content of the PEM
/// block.
const SIGNING_REQUESTS: [(&str, &str); 3] = [
    (
        "node-b",
        "MIHvMIGWAgEAMDQxFTATBgNVBAoMDHN5c3RlbTpub2RlczEbMBkGA1UEAwwSc3lzdGVtOm5vZGU6bm9kZS1iMFkwEwYHKoZI \
         zj0CAQYIKoZIzj0DAQcDQgAENlzHs4fOydcyCUuR4Pv98Og1lgiIXITdM9RB20cnLx/eh0X5M+S+bPdJ15cJO9JnUUhNHlJu \
         Wr9jeuhF8hiz96AAMAoGCCqGSM49BAMCA0gAMEUCIDalZ0gxCbRIs+Cgafrzg3d5UbYb1IGzoN4RZzuEBvHZAiEA5HB8ChOp \
         ttrL0HonU4fi953ra7syUmXg0YAZp/9vV2k=",
    ),
    (
        "node-a-2",
        "MIHyMIGYAgEAMDYxFTATBgNVBAoMDHN5c3RlbTpub2RlczEdMBsGA1UEAwwUc3lzdGVtOm5vZGU6bm9kZS1hLTIwWTATBgcq \
         hkjOPQIBBggqhkjOPQMBBwNCAAQ2XMezh87J1zIJS5Hg+/3w6DWWCIhchN0z1EHbRycvH96HRfkz5L5s90nXlwk70mdRSE0e \
         Um5av2N66EXyGLP3oAAwCgYIKoZIzj0EAwIDSQAwRgIhANZT9ctgnO7PgcHmYIQTs+tioSIpHJaPn+Vm1aQD5JQWAiEAjP6R \
         ZMRClnFa0L02o2shd5uzkEojR6v5aP3c8bAjXpc=",
    ),
    (
        "node-a",
        "MIHvMIGWAgEAMDQxFTATBgNVBAoMDHN5c3RlbTpub2RlczEbMBkGA1UEAwwSc3lzdGVtOm5vZGU6bm9kZS1hMFkwEwYHKoZI \
         zj0CAQYIKoZIzj0DAQcDQgAENlzHs4fOydcyCUuR4Pv98Og1lgiIXITdM9RB20cnLx/eh0X5M+S+bPdJ15cJO9JnUUhNHlJu \
         Wr9jeuhF8hiz96AAMAoGCCqGSM49BAMCA0gAMEUCIQCGQOQJCoUiTmYTbpYG71pnv/yo3TBaiDQfb+0IkVgBJwIgW3obfeRs \
         YkfOLJpRSV0aCCbA5oRtU04iFhocg+rz+ng=",
    ),
];

/// Finding A4: a kubelet requests the certificate of another node.
#[tokio::test]
async fn rejects_signing_requests_for_other_nodes() {
    let target = cluster().await;
    let path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    for (name, encoded) in SIGNING_REQUESTS {
        let lines = encoded.as_bytes().chunks(64).map(String::from_utf8_lossy).collect::<Vec<_>>().join("\n");
        let pem = format!("-----BEGIN CERTIFICATE REQUEST-----\n{lines}\n-----END CERTIFICATE REQUEST-----\n");
        let spec = json!({
            "request": STANDARD.encode(pem),
            "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
            "usages": ["digital signature", "client auth"],
        });
        let mut request = json!({
            "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": name},
        });
        request["spec"] = spec;
        let expected = if name == "node-a" { 201 } else { 403 };
        let posted = target.send(KUBELET, Method::POST, path, JSON, request.to_string()).await;
        assert_eq!(posted.code, expected, "{name}: {}", posted.body);
        let apply = format!("{path}/applied-{name}?fieldManager=m");
        request["metadata"]["name"] = json!(format!("applied-{name}"));
        let applied = target.send(KUBELET, Method::PATCH, &apply, APPLY_PATCH, request.to_string()).await;
        assert_eq!(applied.code, 403, "apply of {name}: {}", applied.body);
    }
    target.assert_alive().await;
}

/// Finding A4: a kubelet changes the labels, finalizers and phase of a claim through its status.
#[tokio::test]
async fn kubelet_changes_only_progress_of_claims() {
    let target = cluster().await;
    let claims = "/api/v1/namespaces/shop/persistentvolumeclaims";
    let spec = json!({
        "accessModes": ["ReadWriteOnce"], "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}},
    });
    target.create(claims, &json!({"metadata": {"name": "data"}, "spec": spec})).await;
    let volume = json!({"name": "v", "persistentVolumeClaim": {"claimName": "data"}});
    create_pod(&target, "web", "node-a", json!({"volumes": [volume]})).await;
    wait_until_allowed(&target, &format!("{claims}/data")).await;
    let status = format!("{claims}/data/status");
    for change in [
        json!({"metadata": {"labels": {"app": "database"}}}),
        json!({"metadata": {"annotations": {"a": "b"}}}),
        json!({"metadata": {"finalizers": ["example.com/held", "kubernetes.io/pvc-protection"]}}),
        json!({"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "y"}]}}),
        json!({"status": {"phase": "Lost"}}),
        json!({"status": {"accessModes": ["ReadWriteMany"]}}),
        json!({"spec": {"volumeName": "other"}}),
    ] {
        assert_forbidden(&target, &status, change).await;
    }
    assert_forbidden(&target, &format!("{claims}/data"), json!({"metadata": {"labels": {"app": "database"}}})).await;
    let progress = json!({"status": {"capacity": {"storage": "1Gi"}}});
    for (media_type, answer) in change_every_way(&target, &status, &progress).await {
        assert_eq!(answer.code, 200, "{media_type}: {}", answer.body);
    }
    target.assert_alive().await;
}

/// Finding A4: a kubelet gets tokens of its pods' accounts for any audience.
#[tokio::test]
async fn rejects_tokens_without_pod_on_the_node() {
    let target = cluster().await;
    let near = create_pod(&target, "web", "node-a", json!({})).await;
    let far = create_pod(&target, "far", "node-b", json!({})).await;
    wait_until_allowed(&target, &format!("{PODS}/web")).await;
    let path = "/api/v1/namespaces/shop/serviceaccounts/default/token";
    let bound = |pod: &Value| json!({"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]});
    let mut unidentified = bound(&near);
    unidentified["uid"] = json!("");
    for (bound, audiences, expected) in [
        (bound(&near), json!([]), 201),
        (bound(&near), json!(["vault"]), 403),
        (bound(&near), json!(["https://kubernetes.default.svc"]), 403),
        (bound(&near), json!(["", "vault"]), 403),
        (bound(&far), json!([]), 403),
        (unidentified, json!([]), 403),
        (Value::Null, json!([]), 403),
        (json!({"apiVersion": "v1", "kind": "Node", "name": "node-a", "uid": "x"}), json!([]), 403),
    ] {
        let spec = json!({"audiences": audiences, "boundObjectRef": bound, "expirationSeconds": 3600});
        let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec});
        let answer = target.send(KUBELET, Method::POST, path, JSON, request.to_string()).await;
        assert_eq!(answer.code, expected, "{spec}: {}", answer.body);
    }
    target.assert_alive().await;
}

/// Finding A4: evictions were not checked; a kubelet evicts, deletes and updates pods of other
/// nodes.
#[tokio::test]
async fn rejects_eviction_and_deletion_of_pods_of_other_nodes() {
    let target = cluster().await;
    for (name, node) in [("web", "node-a"), ("far", "node-b")] {
        create_pod(&target, name, node, json!({})).await;
    }
    let evict = |name: &str| {
        let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}});
        (format!("{PODS}/{name}/eviction"), eviction.to_string())
    };
    let (path, body) = evict("far");
    let refused = target.send(KUBELET, Method::POST, &path, JSON, body.clone()).await;
    assert_eq!(refused.code, 403, "{}", refused.body);
    // The name in the body is subject to the same check as the name in the path.
    let (_, named_web) = evict("web");
    assert!(target.send(KUBELET, Method::POST, &path, JSON, named_web).await.code >= 400);
    assert_eq!(target.send(KUBELET, Method::DELETE, &format!("{PODS}/far"), JSON, "").await.code, 403);
    assert_eq!(target.send(KUBELET, Method::DELETE, PODS, JSON, "").await.code, 403);
    assert_eq!(target.get(ADMIN, &format!("{PODS}/far")).await.body["metadata"]["deletionTimestamp"], Value::Null);
    let (path, body) = evict("web");
    let evicted = target.send(KUBELET, Method::POST, &path, JSON, body).await;
    assert_eq!(evicted.code, 201, "{}", evicted.body);
    target.assert_alive().await;
}

/// Finding A4: a mirror pod that references a secret gives its kubelet access to that secret.
#[tokio::test]
async fn rejects_mirror_pods_that_refer_to_objects() {
    let target = cluster().await;
    let uid = target.get(ADMIN, "/api/v1/nodes/node-a").await.body["metadata"]["uid"].clone();
    let owner = json!({"apiVersion": "v1", "kind": "Node", "name": "node-a", "uid": uid, "controller": true});
    let mirror = |name: &str, spec: Value| {
        let mut pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": name,
                "annotations": {"kubernetes.io/config.mirror": "x", "kubernetes.io/config.source": "file"},
                "ownerReferences": [owner],
            },
            "spec": {"nodeName": "node-a", "containers": [{"name": "c", "image": "registry.example/image"}]},
        });
        pod["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        pod
    };
    let volume = |source: Value| {
        let mut volume = json!({"name": "v"});
        volume.as_object_mut().unwrap().extend(source.as_object().unwrap().clone());
        json!({"volumes": [volume]})
    };
    let environment = json!([{"secretRef": {"name": "x"}}]);
    let init = json!({"name": "i", "image": "registry.example/image", "envFrom": environment});
    for spec in [
        json!({"serviceAccountName": "default"}),
        json!({"imagePullSecrets": [{"name": "x"}]}),
        json!({"initContainers": [init]}),
        json!({"resourceClaims": [{"name": "c", "resourceClaimName": "x"}]}),
        volume(json!({"secret": {"secretName": "x"}})),
        volume(json!({"configMap": {"name": "x"}})),
        volume(json!({"persistentVolumeClaim": {"claimName": "x"}})),
        volume(json!({"csi": {"driver": "d.example.com", "nodePublishSecretRef": {"name": "x"}}})),
        volume(json!({"azureFile": {"secretName": "x", "shareName": "s"}})),
        volume(json!({"cephfs": {"monitors": ["m"], "secretRef": {"name": "x"}}})),
        volume(json!({"projected": {"sources": [{"secret": {"name": "x"}}]}})),
        volume(json!({"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}})),
        volume(json!({"projected": {"sources": [{"clusterTrustBundle": {"name": "x", "path": "p"}}]}})),
    ] {
        let answer = target.send(KUBELET, Method::POST, PODS, JSON, mirror("evil", spec.clone()).to_string()).await;
        assert_eq!(answer.code, 403, "{spec}: {}", answer.body);
    }
    for (field, value) in [("name", json!("node-b")), ("uid", json!("x")), ("blockOwnerDeletion", json!(true))] {
        let mut pod = mirror("evil", json!({}));
        pod["metadata"]["ownerReferences"][0][field] = value;
        let answer = target.send(KUBELET, Method::POST, PODS, JSON, pod.to_string()).await;
        assert_eq!(answer.code, 403, "owner with {field}: {}", answer.body);
    }
    for (method, path, media_type) in [
        (Method::PATCH, format!("{PODS}/evil?fieldManager=m"), APPLY_PATCH),
        (Method::PUT, format!("{PODS}/evil"), JSON),
    ] {
        let body = mirror("evil", volume(json!({"secret": {"secretName": "x"}}))).to_string();
        assert_eq!(target.send(KUBELET, method, &path, media_type, body).await.code, 403, "{media_type}");
    }
    let plain = mirror("static", volume(json!({"hostPath": {"path": "/var/log"}})));
    let answer = target.send(KUBELET, Method::POST, PODS, JSON, plain.to_string()).await;
    assert_eq!(answer.code, 201, "{}", answer.body);
    target.assert_alive().await;
}

/// CVE-2025-5187 and its class: a kubelet changes other nodes, or labels, taints and owners of its
/// own node.
#[tokio::test]
async fn rejects_changes_of_other_nodes_and_of_restricted_fields() {
    let target = Target::start(&FLAGS);
    let node = |name: &str, labels: Value| json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}});
    let restricted = json!({"node-restriction.kubernetes.io/tier": "trusted"});
    for (name, labels) in [("node-b", json!({})), ("node-a", restricted.clone())] {
        let body = node(name, labels).to_string();
        assert_eq!(target.send(KUBELET, Method::POST, "/api/v1/nodes", JSON, body.clone()).await.code, 403, "{name}");
        let path = format!("/api/v1/nodes/{name}?fieldManager=m");
        let applied = target.send(KUBELET, Method::PATCH, &path, APPLY_PATCH, body.clone()).await;
        assert_eq!(applied.code, 403, "apply that creates {name}: {}", applied.body);
        let put = target.send(KUBELET, Method::PUT, &format!("/api/v1/nodes/{name}"), JSON, body).await;
        assert!(matches!(put.code, 403 | 404), "PUT that creates {name}: {}", put.body);
        assert_eq!(target.get(ADMIN, &format!("/api/v1/nodes/{name}")).await.code, 404);
    }
    let body = node("node-a", json!({"kubernetes.io/hostname": "node-a"})).to_string();
    let path = "/api/v1/nodes/node-a?fieldManager=m";
    let applied = target.send(KUBELET, Method::PATCH, path, APPLY_PATCH, body).await;
    assert_eq!(applied.code, 201, "{}", applied.body);
    target.create("/api/v1/nodes", &json!({"metadata": {"name": "node-b"}})).await;
    for subresource in ["", "/status"] {
        let (own, other) = (format!("/api/v1/nodes/node-a{subresource}"), format!("/api/v1/nodes/node-b{subresource}"));
        assert_forbidden(&target, &other, json!({"metadata": {"labels": {"a": "b"}}})).await;
        for labels in [restricted.clone(), json!({"node-role.kubernetes.io/control-plane": ""})] {
            assert_forbidden(&target, &own, json!({"metadata": {"labels": labels}})).await;
        }
        let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "y"});
        assert_forbidden(&target, &own, json!({"metadata": {"ownerReferences": [owner]}})).await;
    }
    let taint = json!({"key": "evil", "value": "x", "effect": "NoSchedule"});
    assert_forbidden(&target, "/api/v1/nodes/node-a", json!({"spec": {"taints": [taint]}})).await;
    assert_eq!(target.send(KUBELET, Method::DELETE, "/api/v1/nodes/node-b", JSON, "").await.code, 403);
    let report = json!({"metadata": {"labels": {"kubernetes.io/arch": "arm64"}}, "status": {"phase": "Running"}});
    for (media_type, answer) in change_every_way(&target, "/api/v1/nodes/node-a/status", &report).await {
        assert_eq!(answer.code, 200, "{media_type}: {}", answer.body);
    }
    target.assert_alive().await;
}

/// Finding A4: roles do not lift the restriction, for any subresource and verb.
#[tokio::test]
async fn roles_do_not_lift_kubelet_restrictions() {
    let target = cluster().await;
    let all = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
    target.grant(KUBELET, "", all).await;
    create_pod(&target, "web", "node-a", json!({})).await;
    create_pod(&target, "unbound", "", json!({})).await;
    let web = format!("{PODS}/web");
    assert_forbidden(&target, &web, json!({"metadata": {"labels": {"a": "b"}}})).await;
    let debugger = json!([{"name": "e", "image": "i", "envFrom": [{"secretRef": {"name": "x"}}]}]);
    let debug = json!({"spec": {"ephemeralContainers": debugger}});
    let grow = json!({"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}});
    for (subresource, change) in [("ephemeralcontainers", debug), ("resize", grow)] {
        let path = format!("{web}/{subresource}");
        let answer = target.send(KUBELET, Method::PATCH, &path, STRATEGIC_PATCH, change.to_string()).await;
        assert_eq!(answer.code, 403, "{subresource}: {}", answer.body);
    }
    let to = json!({"apiVersion": "v1", "kind": "Node", "name": "node-a"});
    let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "unbound"}, "target": to});
    let path = format!("{PODS}/unbound/binding");
    let answer = target.send(KUBELET, Method::POST, &path, JSON, binding.to_string()).await;
    assert_eq!(answer.code, 403, "binding: {}", answer.body);
    let pod = json!({"metadata": {"name": "new"}, "spec": {"nodeName": "node-a", "containers": [{"name": "c", "image": "i"}]}});
    assert_eq!(target.send(KUBELET, Method::POST, PODS, JSON, pod.to_string()).await.code, 403);
    let leases = "/apis/coordination.k8s.io/v1/namespaces/shop/leases";
    for (path, name) in [(leases, "node-a"), ("/apis/storage.k8s.io/v1/csinodes", "node-b")] {
        let object = json!({"metadata": {"name": name}, "spec": {"drivers": []}});
        let answer = target.send(KUBELET, Method::POST, path, JSON, object.to_string()).await;
        assert_eq!(answer.code, 403, "{path}: {}", answer.body);
    }
    for path in [PODS, "/api/v1/nodes"] {
        let answer = target.send(KUBELET, Method::DELETE, path, JSON, "").await;
        assert_eq!(answer.code, 403, "deletecollection of {path}: {}", answer.body);
    }
    target.assert_alive().await;
}
