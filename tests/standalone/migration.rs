//! Migration of stored objects to the current storage version.

use needs::needs;
use serde_json::{Value, json};

use super::{eventually, start_with};
use crate::common::kubectl::Kubectl;

const FLAGS: [&str; 2] =
    ["--feature-gates=StorageVersionMigrator=true", "--runtime-config=storagemigration.k8s.io/v1beta1=true"];

/// A definition with these versions, of which one is stored.
fn definition(versions: &[&str], stored: &str) -> Value {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let version = |name: &&str| {
        json!({
            "name": name, "served": true, "storage": *name == stored,
            "schema": {"openAPIV3Schema": schema},
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": versions.iter().map(version).collect::<Vec<_>>(),
        },
    })
}

impl Kubectl {
    fn migrate(&self, name: &str, group: &str, resource: &str) {
        self.apply(&json!({
            "apiVersion": "storagemigration.k8s.io/v1beta1", "kind": "StorageVersionMigration",
            "metadata": {"name": name}, "spec": {"resource": {"group": group, "resource": resource}},
        }));
    }

    /// Waits for a condition of a migration that is over.
    fn outcome(&self, name: &str, kind: &str) -> Value {
        eventually(kind, || {
            let status = self.json(&["get", "storageversionmigration", name])["status"].clone();
            let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
            let find = |kind: &str| conditions.iter().find(|condition| condition["type"] == kind).cloned();
            let is_over = find("Running").is_some_and(|running| running["status"] == "False");
            find(kind).filter(|_| is_over)
        })
    }
}

#[needs(kubectl)]
#[test]
fn objects_of_a_definition_are_stored_in_its_new_version() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start_with(folder.path(), &FLAGS);
    kubectl.apply(&definition(&["v1", "v2"], "v1"));
    kubectl.run(&["wait", "--for=condition=Established", "crd/widgets.example.com"]);
    for name in ["a", "b"] {
        let metadata = json!({"name": name, "namespace": "default"});
        kubectl.apply(&json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata, "size": 1}));
    }
    kubectl.apply(&definition(&["v1", "v2"], "v2"));
    let stored = || kubectl.json(&["get", "crd", "widgets.example.com"])["status"]["storedVersions"].clone();
    assert_eq!(stored(), json!(["v1", "v2"]));
    let refused = kubectl.try_run(&["apply", "-f", "-"], &definition(&["v2"], "v2").to_string());
    assert!(refused.stderr.contains("missing from spec.versions"), "{}", refused.stderr);
    let before = kubectl.json(&["get", "widget", "a"])["metadata"].clone();
    kubectl.migrate("widgets", "example.com", "widgets");
    assert_eq!(kubectl.outcome("widgets", "Succeeded")["reason"], "StorageVersionMigrationSucceeded");
    eventually("the stored versions", || (stored() == json!(["v2"])).then_some(()));
    let after = kubectl.json(&["get", "widget", "a"])["metadata"].clone();
    assert_ne!(after["resourceVersion"], before["resourceVersion"], "the object was rewritten");
    assert_eq!((&after["generation"], &after["uid"]), (&before["generation"], &before["uid"]));
    // The old version can go, and the objects are still readable.
    kubectl.apply(&definition(&["v2"], "v2"));
    let items = kubectl.json(&["get", "widgets"])["items"].clone();
    assert_eq!(items.as_array().unwrap().len(), 2);
    assert_eq!((&items[0]["apiVersion"], &items[0]["size"]), (&json!("example.com/v2"), &json!(1)));
}

#[needs(kubectl)]
#[test]
fn migrations_of_one_resource_run_in_turn_and_others_fail() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start_with(folder.path(), &FLAGS);
    let version = || kubectl.json(&["get", "configmap", "kube-root-ca.crt"])["metadata"]["resourceVersion"].clone();
    let before = version();
    for name in ["one", "two"] {
        kubectl.migrate(name, "", "configmaps");
    }
    for name in ["one", "two"] {
        kubectl.outcome(name, "Succeeded");
    }
    assert_eq!(version(), before, "an object in the current version is not written");
    kubectl.migrate("reviews", "authentication.k8s.io", "tokenreviews");
    let failed = kubectl.outcome("reviews", "Failed");
    assert!(failed["message"].as_str().unwrap().contains("does not support discovery operations: [update patch list]"));
}
