//! kubectl commands against the running server.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use common::kubectl::{Kubectl, assert_has};
use needs::needs;

const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: nginx, image: 'nginx:1.27', ports: [{containerPort: 80}]}]}
";

const POD: &str = "
apiVersion: v1
kind: Pod
metadata: {name: one, labels: {app: one}}
spec: {containers: [{name: nginx, image: 'nginx:1.27'}]}
";

const CUSTOM: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.stable.example.com}
spec:
  group: stable.example.com
  scope: Namespaced
  names: {plural: crontabs, kind: CronTab}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        description: How often.
        properties:
          spec:
            type: object
            properties:
              mode: {type: string, enum: [Fast, Slow], description: What is done.}
              port: {x-kubernetes-int-or-string: true}
";

/// Returns the words of the line that starts with `name`.
fn row<'t>(table: &'t str, name: &str) -> Vec<&'t str> {
    let line = table.lines().find(|l| l.split_whitespace().next() == Some(name));
    line.unwrap_or_else(|| panic!("no row {name} in:\n{table}")).split_whitespace().collect()
}

#[needs(kubectl)]
#[test]
fn api_resources_lists_every_group() {
    let kubectl = Kubectl::start();
    let names = kubectl.run(&["api-resources", "-o", "name"]);
    assert_has(
        &names,
        &["pods\n", "services\n", "deployments.apps\n", "cronjobs.batch\n", "roles.rbac.authorization.k8s.io\n"],
    );
    let deployments = kubectl.run(&["api-resources", "--api-group=apps"]);
    assert_eq!(row(&deployments, "deployments"), ["deployments", "deploy", "apps/v1", "true", "Deployment"]);
    assert_has(&kubectl.run(&["api-versions"]), &["apps/v1\n", "autoscaling/v2\n", "v1\n"]);
    assert_has(&kubectl.run(&["version"]), &["Server Version: v1.36"]);
}

#[needs(kubectl)]
#[test]
fn explain_describes_kinds_and_fields() {
    let kubectl = Kubectl::start();
    let kinds = [
        "pods",
        "services",
        "configmaps",
        "secrets",
        "nodes",
        "namespaces",
        "events",
        "persistentvolumes",
        "persistentvolumeclaims",
        "serviceaccounts",
        "deployments",
        "statefulsets",
        "daemonsets",
        "jobs",
        "cronjobs",
        "ingresses",
        "networkpolicies",
        "roles",
        "horizontalpodautoscalers",
        "customresourcedefinitions",
    ];
    for kind in kinds {
        let text = kubectl.run(&["explain", kind, "--recursive"]);
        assert_has(
            &text,
            &["KIND:", "VERSION:", "DESCRIPTION:", "FIELDS:", "  metadata\t<ObjectMeta>", "    uid\t<string>"],
        );
    }
    let field = kubectl.run(&["explain", "pods.spec.containers.imagePullPolicy"]);
    assert_has(&field, &["FIELD: imagePullPolicy <string>", "IfNotPresent"]);
}

#[needs(kubectl)]
#[test]
fn explain_describes_custom_kinds() {
    let kubectl = Kubectl::start();
    kubectl.run_with(&["create", "-f", "-"], CUSTOM);
    let explain = |args: &[&str]| kubectl.run(&[&["explain"][..], args].concat());
    assert_has(
        &explain(&["crontabs", "--recursive"]),
        &[
            "GROUP:      stable.example.com",
            "KIND:       CronTab",
            "How often.",
            "  metadata\t<ObjectMeta>",
            "    port\t<Object>",
        ],
    );
    let field = explain(&["crontabs.spec.mode", "--api-version=stable.example.com/v1"]);
    assert_has(&field, &["FIELD: mode <string>", "ENUM:", "    Fast", "What is done."]);
    // The documentation is removed with the definition.
    kubectl.run(&["delete", "crd", "crontabs.stable.example.com"]);
    let v2 = kubectl.run(&["get", "--raw", "/openapi/v2"]);
    assert!(v2.contains("io.k8s.api.core.v1.Pod") && !v2.contains("CronTab"));
    assert!(!kubectl.run(&["get", "--raw", "/openapi/v3"]).contains("stable.example.com"));
}

#[needs(kubectl)]
#[test]
fn object_is_created_printed_changed_and_deleted() {
    let kubectl = Kubectl::start();
    assert_eq!(kubectl.run_with(&["create", "-f", "-"], DEPLOYMENT), "deployment.apps/web created\n");

    let wide = kubectl.run(&["get", "deployment", "web", "-o", "wide"]);
    assert_has(&wide, &["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE", "CONTAINERS", "IMAGES", "SELECTOR"]);
    let cells = row(&wide, "web");
    assert_eq!((cells[1], &cells[5..]), ("0/2", &["nginx", "nginx:1.27", "app=web"][..]));

    assert_has(
        &kubectl.run(&["get", "deployment", "web", "-o", "yaml"]),
        &["kind: Deployment\n", "  replicas: 2\n", "revisionHistoryLimit: 10"],
    );
    let path = "jsonpath={.spec.template.spec.containers[0].image}";
    assert_eq!(kubectl.run(&["get", "deployment", "web", "-o", path]), "nginx:1.27");
    assert_has(
        &kubectl.run(&["describe", "deployment", "web"]),
        &["Name:", "StrategyType:", "RollingUpdate", "Image:", "nginx:1.27"],
    );

    kubectl.run(&["label", "deployment", "web", "tier=front"]);
    kubectl.run(&["annotate", "deployment", "web", "example.com/note=hello"]);
    assert_eq!(kubectl.run(&["get", "deployments", "-l", "tier=front", "-o", "name"]), "deployment.apps/web\n");
    assert_eq!(kubectl.run(&["get", "deployments", "-l", "tier!=front", "-o", "name"]), "");
    let note = "jsonpath={.metadata.annotations.example\\.com/note}";
    assert_eq!(kubectl.run(&["get", "deployment", "web", "-o", note]), "hello");

    assert_has(&kubectl.run(&["delete", "deployment", "web"]), &["deployment.apps \"web\" deleted"]);
    let gone = kubectl.try_run(&["get", "deployment", "web"], "");
    assert_eq!(gone.stderr, "Error from server (NotFound): deployments.apps \"web\" not found\n");
}

#[needs(kubectl)]
#[test]
fn every_patch_type_changes_the_object() {
    let kubectl = Kubectl::start();
    kubectl.run_with(&["create", "-f", "-"], DEPLOYMENT);
    let containers = "jsonpath={range .spec.template.spec.containers[*]}{.name}={.image} {end}";
    let patch = |form: &str, patch: &str| {
        kubectl.run(&["patch", "deployment", "web", "--type", form, "-p", patch]);
        kubectl.run(&["get", "deployment", "web", "-o", containers])
    };
    // A strategic merge patch merges containers by name, a merge patch replaces the list, a JSON
    // patch addresses by index.
    let added = r#"{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"busybox"}]}}}}"#;
    assert_eq!(patch("strategic", added), "side=busybox nginx=nginx:1.27 ");
    assert_eq!(patch("merge", added), "side=busybox ");
    let replaced = r#"[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"alpine"}]"#;
    assert_eq!(patch("json", replaced), "side=alpine ");
    kubectl.run(&["set", "image", "deployment/web", "side=debian:13"]);
    assert_eq!(kubectl.run(&["get", "deployment", "web", "-o", containers]), "side=debian:13 ");
}

#[needs(kubectl)]
#[test]
fn apply_creates_configures_and_leaves_unchanged() {
    let kubectl = Kubectl::start();
    let apply = |text: &str| kubectl.run_with(&["apply", "--server-side=false", "-f", "-"], text);
    assert_eq!(apply(DEPLOYMENT), "deployment.apps/web created\n");
    assert_eq!(apply(DEPLOYMENT), "deployment.apps/web unchanged\n");
    assert_eq!(apply(&DEPLOYMENT.replace("nginx:1.27", "nginx:1.28")), "deployment.apps/web configured\n");
    let image = "jsonpath={.spec.template.spec.containers[0].image}";
    assert_eq!(kubectl.run(&["get", "deployment", "web", "-o", image]), "nginx:1.28");
}

#[needs(kubectl)]
#[test]
fn scale_changes_replicas_and_rollout_reads_status() {
    let kubectl = Kubectl::start();
    kubectl.run_with(&["create", "-f", "-"], DEPLOYMENT);
    assert_eq!(kubectl.run(&["scale", "deployment", "web", "--replicas=5"]), "deployment.apps/web scaled\n");
    assert_eq!(
        kubectl.run(&["get", "deployment", "web", "-o", "jsonpath={.spec.replicas} {.metadata.generation}"]),
        "5 2"
    );

    let rollout = |status: &str| {
        kubectl.run(&["patch", "deployment", "web", "--subresource=status", "--type=merge", "-p", status]);
        kubectl.run(&["rollout", "status", "deployment/web", "--watch=false"])
    };
    let waiting = rollout(r#"{"status":{"observedGeneration":2,"replicas":5,"updatedReplicas":3}}"#);
    assert_has(&waiting, &["3 out of 5 new replicas have been updated"]);
    let done = rollout(
        r#"{"status":{"observedGeneration":2,"replicas":5,"updatedReplicas":5,"readyReplicas":5,"availableReplicas":5}}"#,
    );
    assert_has(&done, &["successfully rolled out"]);
}

#[needs(kubectl)]
#[test]
fn watch_prints_every_change_in_order() {
    let kubectl = Kubectl::start();
    kubectl.run(&["create", "configmap", "seen", "--from-literal=step=0"]);
    let columns = "jsonpath={.type} {.object.metadata.name} {.object.data.step}{\"\\n\"}";
    let mut watch = kubectl.follow(&["get", "configmaps", "-w", "--output-watch-events", "-o", columns]);
    assert_eq!(watch.line(), "ADDED seen 0\n");
    for step in 1..=3 {
        kubectl.run(&[
            "patch",
            "configmap",
            "seen",
            "--type=merge",
            "-p",
            &format!(r#"{{"data":{{"step":"{step}"}}}}"#),
        ]);
        assert_eq!(watch.line(), format!("MODIFIED seen {step}\n"));
    }
    kubectl.run(&["delete", "configmap", "seen"]);
    assert_eq!(watch.line(), "DELETED seen 3\n");
}

#[needs(kubectl)]
#[test]
fn wait_ends_when_condition_is_met() {
    let kubectl = Kubectl::start();
    // In a cluster a controller creates the account; without it no pod is admitted.
    kubectl.run(&["create", "serviceaccount", "default"]);
    kubectl.run_with(&["create", "-f", "-"], POD);
    let mut ready = kubectl.follow(&["wait", "pod/one", "--for=condition=Ready", "--timeout=60s"]);
    let status = r#"{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}"#;
    kubectl.run(&["patch", "pod", "one", "--subresource=status", "--type=merge", "-p", status]);
    assert_eq!(ready.line(), "pod/one condition met\n");

    kubectl.run(&["delete", "pod", "one", "--grace-period=0", "--force", "--wait=true"]);
    assert_eq!(kubectl.run(&["get", "pods", "--output=name"]), "");
}

#[needs(kubectl)]
#[test]
fn flow_schemas_are_listed_by_precedence() {
    let kubectl = Kubectl::start();
    let table = kubectl.run(&["get", "flowschemas", "--no-headers"]);
    let precedences: Vec<u32> = table.lines().map(|l| l.split_whitespace().nth(2).unwrap().parse().unwrap()).collect();
    assert!(precedences.len() > 5 && precedences.is_sorted(), "{table}");
    assert!(!table.lines().is_sorted(), "the order is by name: {table}");
}
