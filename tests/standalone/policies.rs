//! Type checks of the expressions of admission policies.

use needs::needs;
use serde_json::{Value, json};

use super::{eventually, start};
use crate::common::kubectl::Kubectl;

/// A policy for resources of a version.
fn policy(group: &str, resources: &[&str], expression: &str) -> Value {
    let rule = json!({"apiGroups": [group], "apiVersions": ["v1"], "operations": ["*"], "resources": resources});
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "checked"},
        "spec": {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": expression}]},
    })
}

impl Kubectl {
    /// Waits until the current generation of the policy is checked; returns the warnings.
    fn warnings(&self) -> Value {
        eventually("the type check", || {
            let policy = self.json(&["get", "validatingadmissionpolicy", "checked"]);
            let is_checked = policy["status"]["observedGeneration"] == policy["metadata"]["generation"];
            is_checked.then(|| policy["status"]["typeChecking"]["expressionWarnings"].clone())
        })
    }
}

#[needs(kubectl)]
#[test]
fn expressions_are_checked_against_the_kinds_that_a_policy_matches() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    kubectl.apply(&policy("apps", &["deployments", "daemonsets"], "object.spec.replicas > 1"));
    let warnings = kubectl.warnings();
    assert_eq!(warnings.as_array().unwrap().len(), 1, "{warnings}");
    assert_eq!(warnings[0]["fieldRef"], "spec.validations[0].expression");
    let text = warnings[0]["warning"].as_str().unwrap();
    let wanted =
        "apps/v1, Kind=DaemonSet: ERROR: <input>:1:12: undefined field 'replicas'\n | object.spec.replicas > 1\n";
    assert!(text.starts_with(wanted), "{text}");
    kubectl.apply(&policy("apps", &["deployments"], "object.spec.replicas > 1"));
    assert_eq!(kubectl.warnings(), Value::Null);
}

#[needs(kubectl)]
#[test]
fn expressions_are_checked_against_definitions() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start(folder.path());
    let spec = json!({"type": "object", "properties": {"size": {"type": "integer"}}});
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    kubectl.apply(&json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    }));
    kubectl.run(&["wait", "--for=condition=Established", "crd/widgets.example.com"]);
    kubectl.apply(&policy("example.com", &["widgets"], "object.spec.size > 1 && has(object.metadata.labels)"));
    assert_eq!(kubectl.warnings(), Value::Null);
    kubectl.apply(&policy("example.com", &["widgets"], "object.spec.size == 'a'"));
    let text = kubectl.warnings()[0]["warning"].as_str().unwrap().to_owned();
    assert!(text.starts_with("example.com/v1, Kind=Widget: ERROR:") && text.contains("no matching overload"), "{text}");
}
