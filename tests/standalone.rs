//! The program by itself, with its controllers: what API builders do on a fresh server, by kubectl.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "standalone/certificates.rs"]
mod certificates;
#[path = "common/client.rs"]
mod client;
mod common;
#[path = "../server/storage/tests/etcd_server/mod.rs"]
mod etcd_server;
#[path = "standalone/lease.rs"]
mod lease;
#[path = "standalone/migration.rs"]
mod migration;
#[path = "standalone/policies.rs"]
mod policies;
#[path = "standalone/quotas.rs"]
mod quotas;
#[path = "standalone/service_hints.rs"]
mod service_hints;
#[path = "standalone/services.rs"]
mod services;
#[path = "standalone/tokens.rs"]
mod tokens;

use std::path::Path;
use std::time::{Duration, Instant};

use common::Server;
use common::kubectl::{Kubectl, assert_has};
use needs::needs;
use serde_json::{Value, json};

/// Maximum wait for a controller.
const DEADLINE: Duration = Duration::from_secs(60);

/// Starts a server with all controllers.
fn start(folder: &Path) -> Kubectl {
    start_with(folder, &[])
}

fn start_with(folder: &Path, flags: &[&str]) -> Kubectl {
    let flags: Vec<&str> = ["--controllers=*"].into_iter().chain(flags.iter().copied()).collect();
    Kubectl(Server::start_with(folder, &flags))
}

/// Repeats a question until it has an answer.
fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begin.elapsed() < DEADLINE, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(50));
    }
}

impl Kubectl {
    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.run(&[args, &["-o", "json"]].concat())).unwrap()
    }

    fn exists(&self, args: &[&str]) -> bool {
        let found = self.try_run(&[&["get"], args].concat(), "");
        assert!(found.ok || found.stderr.contains("NotFound"), "{}", found.stderr);
        found.ok
    }

    fn apply(&self, object: &Value) {
        self.run_with(&["apply", "-f", "-"], &object.to_string());
    }
}

fn definition() -> Value {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

fn widget(namespace: &str, name: &str, finalizers: &[&str]) -> Value {
    let metadata = json!({"name": name, "namespace": namespace, "finalizers": finalizers});
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata})
}

#[needs(kubectl)]
#[test]
fn namespace_with_pod_and_custom_objects_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    // The first round of the controllers is over when the server is ready.
    kubectl.run(&["get", "serviceaccount", "default"]);
    let certificate = kubectl.json(&["get", "configmap", "kube-root-ca.crt"]);
    assert_has(certificate["data"]["ca.crt"].as_str().unwrap(), &["BEGIN CERTIFICATE"]);
    kubectl.run(&["create", "namespace", "demo"]);
    eventually("the service account", || kubectl.exists(&["serviceaccount", "default", "-n", "demo"]).then_some(()));
    kubectl.run(&["run", "web", "--image=nginx", "-n", "demo"]);
    kubectl.run(&["create", "deployment", "app", "--image=nginx", "-n", "demo"]);
    kubectl.apply(&definition());
    kubectl.run(&["wait", "--for=condition=Established", "crd/widgets.example.com"]);
    for name in ["a", "b", "c"] {
        kubectl.apply(&widget("demo", name, &[]));
    }
    kubectl.apply(&widget("default", "stays", &[]));
    kubectl.run(&["delete", "namespace", "demo", "--timeout=60s"]);
    assert!(!kubectl.exists(&["namespace", "demo"]));
    assert_eq!(kubectl.json(&["get", "widgets", "-A"])["items"].as_array().unwrap().len(), 1);
    for resource in ["pods", "deployments", "events", "serviceaccounts", "configmaps"] {
        assert_eq!(kubectl.json(&["get", resource, "-n", "demo"])["items"], json!([]), "{resource}");
    }
    // The name is free.
    kubectl.run(&["create", "namespace", "demo"]);
    eventually("the service account", || kubectl.exists(&["serviceaccount", "default", "-n", "demo"]).then_some(()));
}

#[needs(kubectl)]
#[test]
fn terminating_namespace_reports_what_remains() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    kubectl.run(&["create", "namespace", "held"]);
    kubectl.apply(&definition());
    kubectl.run(&["wait", "--for=condition=Established", "crd/widgets.example.com"]);
    kubectl.apply(&widget("held", "a", &["example.com/hold"]));
    kubectl.run(&["delete", "namespace", "held", "--wait=false"]);
    let condition = |name: &str| {
        let namespace = kubectl.json(&["get", "namespace", "held"]);
        let conditions = namespace["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.into_iter().find(|condition| condition["type"] == name && condition["status"] == "True")
    };
    let remaining = eventually("the condition", || condition("NamespaceContentRemaining"));
    assert_eq!(remaining["reason"], "SomeResourcesRemain");
    assert_eq!(remaining["message"], "Some resources are remaining: widgets.example.com has 1 resource instances");
    let finalizers = eventually("the condition", || condition("NamespaceFinalizersRemaining"));
    assert_eq!(
        finalizers["message"],
        "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances"
    );
    let refused = kubectl.try_run(&["create", "configmap", "late", "-n", "held"], "");
    assert!(refused.stderr.contains("because it is being terminated"), "{}", refused.stderr);
    kubectl.run(&["patch", "widget", "a", "-n", "held", "--type=merge", "-p", r#"{"metadata":{"finalizers":null}}"#]);
    eventually("the end of the namespace", || (!kubectl.exists(&["namespace", "held"])).then_some(()));
}

#[needs(kubectl)]
#[test]
fn pods_are_deleted_before_other_objects() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    kubectl.run(&["create", "namespace", "ordered"]);
    eventually("the account", || kubectl.exists(&["serviceaccount", "default", "-n", "ordered"]).then_some(()));
    kubectl.run(&["run", "web", "--image=nginx", "-n", "ordered"]);
    let hold = r#"{"metadata":{"finalizers":["example.com/hold"]}}"#;
    kubectl.run(&["patch", "pod", "web", "-n", "ordered", "--type=merge", "-p", hold]);
    kubectl.run(&["create", "configmap", "settings", "-n", "ordered"]);
    kubectl.run(&["delete", "namespace", "ordered", "--wait=false"]);
    let remaining = eventually("the condition", || {
        let namespace = kubectl.json(&["get", "namespace", "ordered"]);
        let conditions = namespace["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.into_iter().find(|condition| condition["type"] == "NamespaceContentRemaining")
    });
    assert_eq!(remaining["message"], "Some resources are remaining: pods. has 1 resource instances");
    assert!(kubectl.exists(&["configmap", "settings", "-n", "ordered"]));
    let release = r#"{"metadata":{"finalizers":null}}"#;
    kubectl.run(&["patch", "pod", "web", "-n", "ordered", "--type=merge", "-p", release]);
    eventually("the end of the namespace", || (!kubectl.exists(&["namespace", "ordered"])).then_some(()));
}

#[needs(kubectl)]
#[test]
fn objects_of_each_namespace_are_restored() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    kubectl.run(&["delete", "serviceaccount", "default"]);
    eventually("the service account", || kubectl.exists(&["serviceaccount", "default"]).then_some(()));
    let broken = r#"{"data":{"ca.crt":"broken"}}"#;
    kubectl.run(&["patch", "configmap", "kube-root-ca.crt", "--type=merge", "-p", broken]);
    eventually("the certificate", || {
        let map = kubectl.json(&["get", "configmap", "kube-root-ca.crt"]);
        map["data"]["ca.crt"].as_str().unwrap().contains("BEGIN CERTIFICATE").then_some(())
    });
}

/// A config map, with its owners.
fn owned(namespace: &str, name: &str, owners: &[Value]) -> Value {
    let metadata = json!({"name": name, "namespace": namespace, "ownerReferences": owners});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
}

impl Kubectl {
    /// Creates a config map without owners, and returns a reference to it as an owner.
    fn owner(&self, namespace: &str, name: &str) -> Value {
        self.run(&["create", "configmap", name, "-n", namespace]);
        self.reference(namespace, name)
    }

    fn reference(&self, namespace: &str, name: &str) -> Value {
        let uid = self.json(&["get", "configmap", name, "-n", namespace])["metadata"]["uid"].clone();
        json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid, "blockOwnerDeletion": true})
    }

    fn wait_for_the_end_of(&self, name: &str) {
        let what = format!("the end of {name}");
        eventually(&what, || (!self.exists(&["configmap", name])).then_some(()));
    }
}

#[needs(kubectl)]
#[test]
fn dependents_are_deleted_with_their_last_owner() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    let (one, other) = (kubectl.owner("default", "one"), kubectl.owner("default", "other"));
    kubectl.apply(&owned("default", "child", std::slice::from_ref(&one)));
    let child = kubectl.reference("default", "child");
    kubectl.apply(&owned("default", "grandchild", &[child]));
    kubectl.apply(&owned("default", "shared", &[one.clone(), other.clone()]));
    kubectl.apply(&definition());
    kubectl.run(&["wait", "--for=condition=Established", "crd/widgets.example.com"]);
    let mut custom = widget("default", "custom", &[]);
    custom["metadata"]["ownerReferences"] = json!([one]);
    kubectl.apply(&custom);
    kubectl.run(&["delete", "configmap", "one"]);
    kubectl.wait_for_the_end_of("child");
    kubectl.wait_for_the_end_of("grandchild");
    eventually("the end of the custom object", || (!kubectl.exists(&["widget", "custom"])).then_some(()));
    // An owner that is gone is removed from the object that has another one.
    let owners = eventually("the change of owners", || {
        let owners = kubectl.json(&["get", "configmap", "shared"])["metadata"]["ownerReferences"].clone();
        (owners.as_array().unwrap().len() == 1).then_some(owners)
    });
    assert_eq!(owners[0]["name"], "other");
    kubectl.run(&["delete", "configmap", "other"]);
    kubectl.wait_for_the_end_of("shared");
}

#[needs(kubectl)]
#[test]
fn dependent_of_owner_that_never_existed_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    let absent = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "absent", "uid": "4711"});
    let unknown = json!({"apiVersion": "made.up/v1", "kind": "Thing", "name": "absent", "uid": "4712"});
    kubectl.apply(&owned("default", "of-unknown", &[unknown]));
    kubectl.apply(&owned("default", "of-absent", std::slice::from_ref(&absent)));
    kubectl.wait_for_the_end_of("of-absent");
    // An owner with the same name and another uid is another object.
    kubectl.owner("default", "absent");
    kubectl.apply(&owned("default", "of-absent", &[absent]));
    kubectl.wait_for_the_end_of("of-absent");
    assert!(kubectl.exists(&["configmap", "absent"]) && kubectl.exists(&["configmap", "of-unknown"]));
}

#[needs(kubectl)]
#[test]
fn foreground_deletion_waits_for_blocking_dependents() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    let owner = kubectl.owner("default", "owner");
    let mut not_blocking = owner.clone();
    not_blocking["blockOwnerDeletion"] = false.into();
    let mut held = owned("default", "held", &[owner]);
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    kubectl.apply(&held);
    let mut free = owned("default", "free", &[not_blocking]);
    free["metadata"]["finalizers"] = json!(["example.com/hold"]);
    kubectl.apply(&free);
    kubectl.run(&["delete", "configmap", "owner", "--cascade=foreground", "--wait=false"]);
    eventually("the deletion of the dependents", || {
        let deleting = |name| !kubectl.json(&["get", "configmap", name])["metadata"]["deletionTimestamp"].is_null();
        (deleting("held") && deleting("free")).then_some(())
    });
    let finalizers = kubectl.json(&["get", "configmap", "owner"])["metadata"]["finalizers"].clone();
    assert_eq!(finalizers, json!(["foregroundDeletion"]));
    let release = r#"{"metadata":{"finalizers":null}}"#;
    kubectl.run(&["patch", "configmap", "held", "--type=merge", "-p", release]);
    kubectl.wait_for_the_end_of("owner");
    assert!(kubectl.exists(&["configmap", "free"]));
    kubectl.run(&["patch", "configmap", "free", "--type=merge", "-p", release]);
    kubectl.wait_for_the_end_of("free");
}

#[needs(kubectl)]
#[test]
fn orphans_stay_without_the_owner() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    let (owner, other) = (kubectl.owner("default", "owner"), kubectl.owner("default", "other"));
    kubectl.apply(&owned("default", "child", std::slice::from_ref(&owner)));
    kubectl.apply(&owned("default", "shared", &[owner, other]));
    kubectl.run(&["delete", "configmap", "owner", "--cascade=orphan"]);
    let owners = |name: &str| kubectl.json(&["get", "configmap", name])["metadata"]["ownerReferences"].clone();
    assert_eq!(owners("child"), Value::Null);
    assert_eq!(owners("shared").as_array().unwrap().len(), 1);
    kubectl.run(&["delete", "configmap", "other"]);
    kubectl.wait_for_the_end_of("shared");
    assert!(kubectl.exists(&["configmap", "child"]));
}

#[needs(kubectl)]
#[test]
fn circles_of_owners_are_deleted_in_the_foreground() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    let one = kubectl.owner("default", "one");
    kubectl.apply(&owned("default", "two", &[one]));
    let two = kubectl.reference("default", "two");
    let change = json!({"metadata": {"ownerReferences": [two]}}).to_string();
    kubectl.run(&["patch", "configmap", "one", "--type=merge", "-p", &change]);
    kubectl.run(&["delete", "configmap", "one", "--cascade=foreground", "--timeout=60s"]);
    kubectl.wait_for_the_end_of("two");
}

#[needs(kubectl)]
#[test]
fn owners_in_other_namespaces_count_as_absent_and_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    kubectl.run(&["create", "namespace", "other"]);
    let owner = kubectl.owner("other", "owner");
    kubectl.apply(&owned("default", "child", std::slice::from_ref(&owner)));
    kubectl.wait_for_the_end_of("child");
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "child", "ownerReferences": [owner]},
    });
    kubectl.apply(&role);
    let events = eventually("the events", || {
        let events = kubectl.json(&["get", "events", "--field-selector=reason=OwnerRefInvalidNamespace"]);
        let items = events["items"].as_array().unwrap().clone();
        (items.len() == 2).then_some(items)
    });
    let of = |kind: &str| events.iter().find(|event| event["involvedObject"]["kind"] == kind).unwrap();
    let uid =
        kubectl.json(&["get", "configmap", "owner", "-n", "other"])["metadata"]["uid"].as_str().unwrap().to_owned();
    assert_eq!(
        of("ConfigMap")["message"],
        format!(
            "ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: {uid}] does not exist in namespace \"default\""
        )
    );
    assert_eq!(of("ConfigMap")["source"]["component"], "garbage-collector-controller");
    assert_eq!(of("ClusterRole")["type"], "Warning");
    assert!(kubectl.exists(&["clusterrole", "child"]));
}

#[needs(kubectl)]
#[test]
fn aggregated_cluster_roles_have_the_rules_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    // The bootstrap roles of users are aggregated.
    eventually("the rules of view", || {
        let rules = kubectl.json(&["get", "clusterrole", "view"])["rules"].as_array().map_or(0, Vec::len);
        (rules > 5).then_some(())
    });
    kubectl.run(&["create", "clusterrole", "extra", "--verb=get", "--resource=secrets"]);
    let view = || kubectl.json(&["get", "clusterrole", "view"])["rules"].to_string().contains("\"secrets\"");
    assert!(!view());
    kubectl.run(&["label", "clusterrole", "extra", "rbac.authorization.k8s.io/aggregate-to-view=true"]);
    eventually("the rule", || view().then_some(()));
    kubectl.run(&["delete", "clusterrole", "extra"]);
    eventually("the end of the rule", || (!view()).then_some(()));
}

#[needs(kubectl)]
#[test]
fn finished_jobs_are_deleted_after_their_time() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    for (name, seconds) in [("short", 1), ("long", 3600)] {
        let container = json!({"name": "a", "image": "a"});
        kubectl.apply(&json!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "default"},
            "spec": {
                "ttlSecondsAfterFinished": seconds,
                "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
            },
        }));
        let time = "2026-01-01T00:00:00Z";
        let condition = |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": time});
        let conditions = [condition("SuccessCriteriaMet"), condition("Complete")];
        let mut status = json!({"status": {"startTime": time, "completionTime": time, "conditions": conditions}});
        if name == "long" {
            status = json!({"status": {"startTime": time}});
        }
        kubectl.run(&["patch", "job", name, "--subresource=status", "--type=merge", "-p", &status.to_string()]);
    }
    eventually("the end of the job", || (!kubectl.exists(&["job", "short"])).then_some(()));
    assert!(kubectl.exists(&["job", "long"]));
}

#[needs(kubectl)]
#[test]
fn volumes_and_claims_in_use_are_protected() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    let claim = |name: &str| {
        json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "default"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        })
    };
    kubectl.apply(&claim("free"));
    kubectl.apply(&claim("used"));
    kubectl.apply(&json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "nodeName": "somewhere", "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "a", "image": "a"}],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "used"}}],
        },
    }));
    kubectl.run(&["delete", "pvc", "free", "used", "--wait=false"]);
    eventually("the end of the claim", || (!kubectl.exists(&["pvc", "free"])).then_some(()));
    assert!(kubectl.exists(&["pvc", "used"]));
    kubectl.run(&["delete", "pod", "web", "--force", "--grace-period=0"]);
    eventually("the end of the claim", || (!kubectl.exists(&["pvc", "used"])).then_some(()));
    kubectl.apply(&json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"},
        "spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/a"}},
    }));
    let bound = |phase: &str| {
        let status = json!({"status": {"phase": phase}}).to_string();
        kubectl.run(&["patch", "pv", "disk", "--subresource=status", "--type=merge", "-p", &status]);
    };
    bound("Bound");
    kubectl.run(&["delete", "pv", "disk", "--wait=false"]);
    assert!(kubectl.exists(&["pv", "disk"]));
    bound("Released");
    eventually("the end of the volume", || (!kubectl.exists(&["pv", "disk"])).then_some(()));
}

#[needs(kubectl)]
#[test]
fn pod_without_scheduler_has_an_event() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    kubectl.run(&["run", "web", "--image=nginx"]);
    let event = eventually("the event", || {
        let events = kubectl.json(&["get", "events", "--field-selector=reason=NoScheduler"]);
        events["items"].as_array().unwrap().first().cloned()
    });
    assert_eq!(event["involvedObject"]["name"], "web");
    assert_has(event["message"].as_str().unwrap(), &["no scheduler runs"]);
}

#[needs(kubectl)]
#[test]
fn metrics_include_queues_of_controllers() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    kubectl.run(&["create", "namespace", "demo"]);
    kubectl.run(&["delete", "namespace", "demo"]);
    let metrics = || kubectl.run(&["get", "--raw", "/metrics"]);
    let queues = ["namespace", "serviceaccount", "garbage_collector_attempt_to_delete", "endpoint_slice"];
    let text = metrics();
    for queue in queues {
        assert_has(&text, &[&format!("workqueue_depth{{name=\"{queue}\"}} ")]);
    }
    // The work may end after the namespace.
    let worked = "workqueue_work_duration_seconds_count{name=\"namespace\"} ";
    let has_worked = |line: &str| line.strip_prefix(worked).is_some_and(|count| count != "0");
    eventually("work on the namespace", || metrics().lines().any(has_worked).then_some(()));
}
