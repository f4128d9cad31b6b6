//! Attacks on admission: authorized requests that an admission plugin must reject.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{ADMIN, APPLY_PATCH, Answer, JSON, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, Target};

const NAMESPACE: &str = "team-a";
const PODS: &str = "/api/v1/namespaces/team-a/pods";
const MALLORY: &str = "mallory";

/// Starts a server with a namespace in which `mallory` has all rights on pods.
async fn target(flags: &[&str]) -> Target {
    let target = Target::start(flags);
    target.create_namespace(NAMESPACE).await;
    let verbs = ["get", "create", "update", "patch", "delete"];
    let resources = ["pods", "pods/ephemeralcontainers", "pods/resize", "pods/status", "pods/binding", "pods/eviction"];
    target.grant(MALLORY, NAMESPACE, json!([{"apiGroups": [""], "resources": resources, "verbs": verbs}])).await;
    target
}

/// Returns each way to change an object: method, media type, query and body.
fn changes(object: &Value, partial: &Value) -> [(Method, &'static str, &'static str, Value); 5] {
    let mut replaced = object.clone();
    replaced["metadata"].as_object_mut().unwrap().retain(|field, _| field == "name" || field == "namespace");
    let mut operations = Vec::new();
    for (outer, fields) in partial.as_object().unwrap() {
        for (field, value) in fields.as_object().unwrap() {
            replaced[outer][field] = value.clone();
            operations.push(json!({"op": "add", "path": format!("/{outer}/{field}"), "value": value}));
        }
    }
    let mut applied = partial.clone();
    for field in ["apiVersion", "kind"] {
        applied[field] = object[field].clone();
    }
    applied["metadata"]["name"] = object["metadata"]["name"].clone();
    [
        (Method::PUT, JSON, "", replaced),
        (Method::PATCH, JSON_PATCH, "", operations.into()),
        (Method::PATCH, MERGE_PATCH, "", partial.clone()),
        (Method::PATCH, STRATEGIC_PATCH, "", partial.clone()),
        (Method::PATCH, APPLY_PATCH, "?fieldManager=mallory&force=true", applied),
    ]
}

/// Sends each change of `changes` as `mallory`; fails unless every answer is 403 with this reason.
async fn assert_changes_forbidden(target: &Target, path: &str, object: &Value, partial: &Value, reason: &str) {
    for (method, media_type, query, body) in changes(object, partial) {
        let answer = target.send(MALLORY, method, &format!("{path}{query}"), media_type, body.to_string()).await;
        assert_forbidden(&answer, &format!("{media_type} of {path}"), reason);
    }
}

fn assert_forbidden(answer: &Answer, what: &str, reason: &str) {
    let message = answer.body["message"].as_str().unwrap_or_default();
    assert!(answer.code == 403 && message.contains(reason), "{what}: {} {message}", answer.code);
}

/// Creates a service account whose pods may reference only the secret `allowed`.
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

/// Returns pod fields that reference a secret, one entry for each kind of reference.
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

/// Returns a pod of the limited account with the fields of one reference.
fn pod_with(name: &str, fields: &Value) -> Value {
    let mut pod = pod_of("limited", name);
    for (field, value) in fields.as_object().unwrap() {
        pod["spec"][field] = value.clone();
    }
    pod
}

/// Finding A5: a pod references a secret that its service account does not list, by each kind of
/// reference.
#[tokio::test]
async fn rejects_references_to_unmountable_secrets() {
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

/// Finding A5 (CVE-2023-2728): an ephemeral container reads a secret that the service account does
/// not list.
#[tokio::test]
async fn rejects_unmountable_secrets_in_ephemeral_containers() {
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
        json!({"spec": {"ephemeralContainers": [container]}})
    };
    for by in ["env", "envFrom"] {
        let reason = "does not reference that secret";
        assert_changes_forbidden(&target, &path, &pod, &debugger("stolen", by), reason).await;
    }
    let body = debugger("allowed", "env").to_string();
    let answer = target.send(MALLORY, Method::PATCH, &path, STRATEGIC_PATCH, body).await;
    assert_eq!(answer.code, 200, "{}", answer.body);
    assert_eq!(target.get(ADMIN, &format!("{PODS}/running")).await.code, 200);
}

/// Fails when a container of the pod has more privileges than the baseline level allows.
async fn assert_unprivileged(target: &Target, name: &str) {
    let pod = target.get(ADMIN, &format!("{PODS}/{name}")).await;
    assert!(!pod.body.to_string().contains("\"privileged\":true"), "{}", pod.body);
}

/// CVE-2023-2728 of `PodSecurity`: a pod gains privileges through each endpoint.
#[tokio::test]
async fn rejects_privileged_containers_through_every_endpoint() {
    let target = target(&["--allow-privileged=true"]).await;
    let labels = json!({"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "baseline"}}});
    let path = "/api/v1/namespaces/team-a";
    assert_eq!(target.send(ADMIN, Method::PATCH, path, MERGE_PATCH, labels.to_string()).await.code, 200);
    let pod = target.create(PODS, &pod_of("default", "running")).await;
    let reason = "violates PodSecurity \"baseline:latest\"";
    let privileged = json!({"name": "debug", "image": "i", "securityContext": {"privileged": true}});

    for list in ["containers", "initContainers"] {
        let mut evil = pod_of("default", "evil");
        evil["spec"][list] = json!([privileged]);
        let created = target.send(MALLORY, Method::POST, PODS, JSON, evil.to_string()).await;
        assert_forbidden(&created, list, reason);
        let path = format!("{PODS}/evil?fieldManager=m");
        let applied = target.send(MALLORY, Method::PATCH, &path, APPLY_PATCH, evil.to_string()).await;
        assert_forbidden(&applied, list, reason);
    }
    let debug = json!({"spec": {"ephemeralContainers": [privileged]}});
    assert_changes_forbidden(&target, &format!("{PODS}/running/ephemeralcontainers"), &pod, &debug, reason).await;
    // These endpoints change only resources and the status; the rest of the body is ignored.
    let more =
        json!({"spec": {"containers": [{"name": "main", "image": "i", "securityContext": {"privileged": true}}]}});
    for subresource in ["resize", "status"] {
        for (method, media_type, query, body) in changes(&pod, &more) {
            let path = format!("{PODS}/running/{subresource}{query}");
            target.send(MALLORY, method, &path, media_type, body.to_string()).await;
            assert_unprivileged(&target, "running").await;
        }
    }
    let relaxed = json!({"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "privileged"}}});
    let namespace = target.get(ADMIN, path).await.body;
    for subresource in ["", "/status", "/finalize"] {
        assert_changes_forbidden(&target, &format!("{path}{subresource}"), &namespace, &relaxed, "cannot").await;
    }
    let namespace = target.get(ADMIN, path).await.body;
    assert_eq!(namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "baseline");
    target.assert_alive().await;
}

const SIGNING_REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
/// A certificate signing request of `mallory` for the group `system:masters`.
const MASTERS: &str = "-----BEGIN CERTIFICATE REQUEST-----
MIHlMIGNAgEAMCsxFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMRAwDgYDVQQDDAdt
YWxsb3J5MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE5/pl4gh8dSmibCMM+aZ7
cdY4PlNP32AWRKYI/1/Whh3Ce1zh+1+zjhYLlUNQybzbDdORKZTRiY9D8npMTGHD
Z6AAMAoGCCqGSM49BAMCA0cAMEQCIEkg/N/GNLacD7dEMLsCj+qzd/N2hUpX+55Z
LgYeyZpiAiBWXdPlP8A7Ji7WrWbxy8QlMwvQBMBJHhtrBP4Ebj0bwA==
-----END CERTIFICATE REQUEST-----
";

/// The organization `system:masters` is rejected in every string encoding that a signer decodes.
#[tokio::test]
async fn rejects_system_masters_in_every_subject_encoding() {
    let target = target(&[]).await;
    let rules =
        json!([{"apiGroups": ["certificates.k8s.io"], "resources": ["certificatesigningrequests"], "verbs": ["*"]}]);
    target.grant(MALLORY, "", rules).await;
    let requests = include_str!("masters.pem").split_inclusive("-----END CERTIFICATE REQUEST-----\n");
    for (index, pem) in requests.enumerate() {
        let (comment, pem) = pem.split_once('\n').unwrap();
        let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, pem);
        let request = json!({
            "metadata": {"name": format!("masters-{index}")},
            "spec": {"request": encoded, "signerName": "kubernetes.io/kube-apiserver-client", "usages": ["client auth"]},
        });
        let refused = target.send(MALLORY, Method::POST, SIGNING_REQUESTS, JSON, request.to_string()).await;
        assert_forbidden(&refused, comment, "system:masters group is not allowed");
    }
}

/// A user with all rights on signing requests, and none on the signer, approves and signs a
/// request.
#[tokio::test]
async fn rejects_approval_and_signing_without_rights_on_signer() {
    let target = target(&[]).await;
    let group = "certificates.k8s.io";
    let resources =
        ["certificatesigningrequests", "certificatesigningrequests/approval", "certificatesigningrequests/status"];
    let rules = json!([
        {"apiGroups": [group], "resources": resources, "verbs": ["*"]},
        {"apiGroups": [group], "resources": ["signers"], "resourceNames": ["own.example.com/*"], "verbs": ["approve", "sign"]},
    ]);
    target.grant(MALLORY, "", rules).await;
    let request = |name: &str, signer: &str| {
        let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, MASTERS);
        json!({
            "metadata": {"name": name},
            "spec": {"request": encoded, "signerName": signer, "usages": ["client auth"]},
        })
    };
    let of_client = request("masters", "kubernetes.io/kube-apiserver-client").to_string();
    let refused = target.send(MALLORY, Method::POST, SIGNING_REQUESTS, JSON, of_client).await;
    assert_forbidden(&refused, "system:masters", "system:masters group is not allowed");

    let stored = target.create(SIGNING_REQUESTS, &request("theirs", "other.example.com/client")).await;
    let condition = json!([{"type": "Approved", "status": "True", "reason": "Mine"}]);
    // The signer name in the body has no effect: authorization uses the stored one.
    let approved = json!({"spec": {"signerName": "own.example.com/client"}, "status": {"conditions": condition}});
    let path = format!("{SIGNING_REQUESTS}/theirs");
    assert_changes_forbidden(&target, &format!("{path}/approval"), &stored, &approved, "not permitted to approve")
        .await;
    let certificate = base64::Engine::encode(
        &base64::engine::general_purpose::STANDARD,
        "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n",
    );
    let signed = json!({"spec": {"signerName": "own.example.com/client"}, "status": {"certificate": certificate}});
    for (method, media_type, query, body) in changes(&stored, &signed) {
        let path = format!("{path}/status{query}");
        let answer = target.send(MALLORY, method, &path, media_type, body.to_string()).await;
        // Validation may reject the certificate before authorization does.
        assert!(answer.code == 403 || answer.code == 422, "{media_type}: {} {}", answer.code, answer.body);
    }
    let stored = target.get(ADMIN, &path).await.body;
    assert_eq!((&stored["status"]["conditions"], &stored["status"]["certificate"]), (&Value::Null, &Value::Null));

    let own = target.create(SIGNING_REQUESTS, &request("own", "own.example.com/client")).await;
    let [(method, media_type, _, body), ..] = changes(&own, &json!({"status": {"conditions": condition}}));
    let path = format!("{SIGNING_REQUESTS}/own/approval");
    let answer = target.send(MALLORY, method, &path, media_type, body.to_string()).await;
    assert_eq!(answer.code, 200, "{}", answer.body);
}

/// A user who can write an object, but can neither delete it nor finalize its owner, sets owner
/// references.
#[tokio::test]
async fn rejects_owner_references_without_rights_on_object_and_owner() {
    let target = target(&["--enable-admission-plugins=OwnerReferencesPermissionEnforcement"]).await;
    let verbs = ["create", "get", "update", "patch"];
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}]);
    target.grant("alice", NAMESPACE, rules).await;
    let path = "/api/v1/namespaces/team-a/configmaps";
    let owner = target.create(path, &json!({"metadata": {"name": "owner"}})).await;
    let object = target.create(path, &json!({"metadata": {"name": "object"}})).await;
    let reference = |kind: &str, blocks: bool| {
        json!({"metadata": {"ownerReferences": [{
            "apiVersion": "v1", "kind": kind, "name": "owner", "uid": owner["metadata"]["uid"], "blockOwnerDeletion": blocks,
        }]}})
    };
    for (method, media_type, query, body) in changes(&object, &reference("ConfigMap", false)) {
        let path = format!("{path}/object{query}");
        let answer = target.send("alice", method, &path, media_type, body.to_string()).await;
        assert_forbidden(&answer, media_type, "cannot set an ownerRef on a resource you can't delete");
    }
    for (kind, reason) in [
        (
            "ConfigMap",
            "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on",
        ),
        ("Gadget", "cannot find RESTMapping"),
    ] {
        let mut created = reference(kind, true);
        created["metadata"]["name"] = "new".into();
        let answer = target.send("alice", Method::POST, path, JSON, created.to_string()).await;
        assert_forbidden(&answer, kind, reason);
        created["apiVersion"] = "v1".into();
        created["kind"] = "ConfigMap".into();
        let applied = format!("{path}/new?fieldManager=m");
        let answer = target.send("alice", Method::PATCH, &applied, APPLY_PATCH, created.to_string()).await;
        assert_forbidden(&answer, kind, reason);
    }
    let mut created = reference("ConfigMap", false);
    created["metadata"]["name"] = "new".into();
    let answer = target.send("alice", Method::POST, path, JSON, created.to_string()).await;
    assert_eq!(answer.code, 201, "{}", answer.body);
}

/// Creates a quota with these hard limits and a status without usage.
async fn create_quota(target: &Target, name: &str, scopes: &[&str], hard: Value) {
    let path = "/api/v1/namespaces/team-a/resourcequotas";
    let mut quota = json!({"metadata": {"name": name}, "spec": {"hard": hard, "scopes": scopes}});
    let mut stored = target.create(path, &quota).await;
    let used: serde_json::Map<String, Value> =
        hard.as_object().unwrap().keys().map(|key| (key.clone(), json!("0"))).collect();
    quota = json!({"hard": hard, "used": used});
    stored["status"] = quota;
    let path = format!("{path}/{name}/status");
    let answer = target.send(ADMIN, Method::PUT, &path, JSON, stored.to_string()).await;
    assert_eq!(answer.code, 200, "{}", answer.body);
}

/// An update consumes quota that a create would not get.
#[tokio::test]
async fn quota_charges_updates() {
    let target = target(&[]).await;
    let verbs = ["create", "get", "update", "patch"];
    let rules = json!([
        {"apiGroups": [""], "resources": ["services", "pods"], "verbs": verbs},
        {"apiGroups": ["resource.k8s.io"], "resources": ["resourceclaims"], "verbs": verbs},
    ]);
    target.grant("alice", NAMESPACE, rules).await;
    create_quota(&target, "balancers", &[], json!({"services.loadbalancers": "0", "services.nodeports": "0"})).await;
    create_quota(&target, "devices", &[], json!({"gpu.deviceclass.resource.k8s.io/devices": "2"})).await;
    create_quota(&target, "terminating", &["Terminating"], json!({"pods": "0"})).await;
    let exceeded = "exceeded quota";

    let services = "/api/v1/namespaces/team-a/services";
    let service =
        target.create(services, &json!({"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}})).await;
    for kind in ["LoadBalancer", "NodePort"] {
        for (method, media_type, query, body) in changes(&service, &json!({"spec": {"type": kind}})) {
            let path = format!("{services}/web{query}");
            let answer = target.send("alice", method, &path, media_type, body.to_string()).await;
            assert_forbidden(&answer, &format!("{media_type} {kind}"), exceeded);
        }
    }
    let pod = target.create(PODS, &pod_of("default", "endless")).await;
    let ends = json!({"spec": {"activeDeadlineSeconds": 60}});
    assert_changes_forbidden(&target, &format!("{PODS}/endless"), &pod, &ends, exceeded).await;

    let claims = "/apis/resource.k8s.io/v1/namespaces/team-a/resourceclaims";
    let claim = |count: u32| {
        let exactly = json!({"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count});
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "gpus"},
            "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}},
        })
    };
    let created = target.send("alice", Method::POST, claims, JSON, claim(3).to_string()).await;
    assert_forbidden(&created, "devices", exceeded);
    let applied = format!("{claims}/gpus?fieldManager=m");
    let applied = target.send("alice", Method::PATCH, &applied, APPLY_PATCH, claim(3).to_string()).await;
    assert_forbidden(&applied, "devices by apply", exceeded);
    let created = target.send("alice", Method::POST, claims, JSON, claim(2).to_string()).await;
    assert_eq!(created.code, 201, "{}", created.body);
}
