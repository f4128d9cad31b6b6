//! Admission plugins: configuration by a file, a mutating plugin, and reinvocation of policies.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use common::Server;
use common::kubectl::{Kubectl, assert_has};
use needs::needs;

const CONFIGURATION: &str = "
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    defaults: {enforce: baseline, warn: restricted, warn-version: v1.25}
    exemptions: {namespaces: [free], usernames: [trusted]}
- name: EventRateLimit
  path: limits.yaml
- name: PodTolerationRestriction
  configuration:
    apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1
    kind: Configuration
    default: [{key: a, operator: Exists}]
    whitelist: [{key: a, operator: Exists}, {key: b, operator: Exists}, {key: node.kubernetes.io/not-ready, operator: Exists}, {key: node.kubernetes.io/unreachable, operator: Exists}]
";
const LIMITS: &str = "
apiVersion: eventratelimit.admission.k8s.io/v1alpha1
kind: Configuration
limits: [{type: Namespace, qps: 1, burst: 2}]
";

fn pod(name: &str, more: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec: {{containers: [{{name: c, image: i}}]{more}}}\n"
    )
}

fn event(name: &str) -> String {
    format!("apiVersion: v1\nkind: Event\nmetadata: {{name: {name}}}\ninvolvedObject: {{namespace: default}}\n")
}

#[needs(kubectl)]
#[test]
fn admission_plugins_are_configured_by_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("admission.yaml");
    std::fs::write(&file, CONFIGURATION).unwrap();
    std::fs::write(folder.path().join("limits.yaml"), LIMITS).unwrap();
    let flags = [
        &format!("--admission-control-config-file={}", file.display()),
        "--enable-admission-plugins=EventRateLimit,PodTolerationRestriction",
        "--default-not-ready-toleration-seconds=7",
    ];
    let kubectl = Kubectl(Server::start_with(folder.path(), &flags));
    let create = |namespace: &str, text: &str| kubectl.try_run(&["create", "-n", namespace, "-f", "-"], text);
    kubectl.run(&["create", "namespace", "free"]);
    for namespace in ["default", "free"] {
        kubectl.run(&["create", "serviceaccount", "default", "-n", namespace]);
    }

    let refused = create("default", &pod("host", ", hostNetwork: true"));
    assert_has(&refused.stderr, &["violates PodSecurity \"baseline:latest\": host namespaces (hostNetwork=true)"]);
    assert!(create("free", &pod("host", ", hostNetwork: true")).ok);
    let warned = create("default", &pod("plain", ""));
    assert_has(&warned.stderr, &["would violate PodSecurity \"restricted:v1.25\""]);
    let warned = kubectl.try_run(&["label", "namespace", "free", "pod-security.kubernetes.io/enforce=restricted"], "");
    assert_has(
        &warned.stderr,
        &["namespace \"free\" is exempt from Pod Security, and the policy (enforce=restricted:latest) will be ignored"],
    );

    let tolerations = "jsonpath={range .spec.tolerations[*]}{.key} {.tolerationSeconds},{end}";
    let output = kubectl.run(&["get", "pod", "plain", "-o", tolerations]);
    assert_has(&output, &["a ,", "node.kubernetes.io/not-ready 7,", "node.kubernetes.io/unreachable 300,"]);
    let refused = create("default", &pod("picky", ", tolerations: [{key: z, operator: Exists}]"));
    assert_has(&refused.stderr, &["conflict with its cluster whitelist"]);
    kubectl.run(&[
        "annotate",
        "namespace",
        "default",
        "scheduler.alpha.kubernetes.io/tolerationsWhitelist=[{\"key\": \"z\", \"operator\": \"Exists\"}]",
    ]);
    assert_has(&create("default", &pod("late", "")).stderr, &["conflict with its namespace whitelist"]);

    let outcomes = ["e1", "e2", "e3", "e4", "e5", "e6"].map(|name| create("default", &event(name)));
    let refused = outcomes.iter().find(|outcome| !outcome.ok).expect("a limit");
    assert_has(&refused.stderr, &["limit reached on type Namespace for key default"]);
    assert!(outcomes[0].ok && outcomes[1].ok);

    let metrics = kubectl.run(&["get", "--raw", "/metrics"]);
    let of = "apiserver_admission_controller_admission_duration_seconds_count";
    assert_has(
        &metrics,
        &[
            &format!("{of}{{name=\"PodSecurity\",operation=\"CREATE\",rejected=\"true\",type=\"validate\"}}"),
            "apiserver_admission_step_admission_duration_seconds_count{operation=\"CREATE\",rejected=\"false\",type=\"admit\"}",
        ],
    );
}

/// Returns a policy and binding with an expression for the labels.
fn policy(name: &str, reinvocation: &str, expression: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {{name: {name}}}
spec:
  reinvocationPolicy: {reinvocation}
  matchConstraints: {{resourceRules: [{{apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}}]}}
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {{expression: \"Object{{metadata: Object.metadata{{labels: {expression}}}}}\"}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {{name: {name}}}
spec: {{policyName: {name}}}
---
"
    )
}

#[needs(kubectl)]
#[test]
fn mutating_policies_are_reinvoked_if_needed() {
    let kubectl = Kubectl::start();
    let copies = |label: &str| {
        format!(
            "has(object.metadata.labels) && 'set' in object.metadata.labels ? {{'{label}': object.metadata.labels['set']}} : {{'unset': 'yes'}}"
        )
    };
    let policies = [
        policy("a-again", "IfNeeded", &copies("again")),
        policy("a-once", "Never", &copies("once")),
        policy("b-sets", "Never", "{'set': 'x'}"),
    ];
    kubectl.run_with(&["create", "-f", "-"], &policies.concat());
    let labels = "jsonpath={.metadata.labels}";
    for attempt in 0..50 {
        let name = format!("map-{attempt}");
        kubectl.run(&["create", "configmap", &name]);
        let output = kubectl.run(&["get", "configmap", &name, "-o", labels]);
        if output.contains("\"set\":\"x\"") && output.contains("\"unset\":\"yes\"") {
            assert!(output.contains("\"again\":\"x\"") && !output.contains("\"once\""), "{output}");
            return;
        }
    }
    panic!("the policies have no effect");
}

#[needs(kubectl)]
#[test]
fn namespace_auto_provision_creates_namespace() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--enable-admission-plugins=NamespaceAutoProvision,NamespaceExists"];
    let kubectl = Kubectl(Server::start_with(folder.path(), &flags));
    for namespace in ["one", "two", "three"] {
        kubectl.run(&["create", "configmap", "map", "-n", namespace]);
        kubectl.run(&["get", "namespace", namespace]);
    }
}

#[needs(kubectl)]
#[test]
fn policy_params_may_be_custom_resources() {
    let kubectl = Kubectl::start();
    let definition = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: limits.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: limits, kind: Limit}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {max: {type: integer}}}}}}
";
    kubectl.run_with(&["create", "-f", "-"], definition);
    kubectl.run_with(
        &["create", "-f", "-"],
        "apiVersion: example.com/v1\nkind: Limit\nmetadata: {name: l}\nspec: {max: 1}\n",
    );
    let policy = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: by-limit}
spec:
  paramKind: {apiVersion: example.com/v1, kind: Limit}
  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]}
  validations: [{expression: 'object.data.size() <= params.spec.max', messageExpression: '\"at most \" + string(params.spec.max)'}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: by-limit}
spec: {policyName: by-limit, validationActions: [Deny], paramRef: {name: l, namespace: default, parameterNotFoundAction: Deny}}
";
    kubectl.run_with(&["create", "-f", "-"], policy);
    let map = |name: &str, data: &str| {
        let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {data}\n");
        kubectl.try_run(&["create", "-f", "-"], &text)
    };
    for attempt in 0..50 {
        let outcome = map(&format!("large-{attempt}"), "{a: '1', b: '2'}");
        if !outcome.ok {
            assert_has(&outcome.stderr, &["at most 1"]);
            assert!(map("small", "{a: '1'}").ok);
            return;
        }
    }
    panic!("the policy has no effect");
}

/// As with kube-apiserver 1.36.2: `namespaceObject` is null in match conditions, and the namespace
/// in validations.
#[needs(kubectl)]
#[test]
fn match_conditions_have_null_namespace_object() {
    let kubectl = Kubectl::start();
    let policy = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: by-namespace}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]
  matchConditions: [{name: none, expression: 'namespaceObject == null'}]
  validations: [{expression: 'namespaceObject == null', messageExpression: '\"in \" + namespaceObject.metadata.name'}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: by-namespace}
spec: {policyName: by-namespace, validationActions: [Deny]}
";
    kubectl.run_with(&["create", "-f", "-"], policy);
    for attempt in 0..50 {
        let outcome = kubectl.try_run(&["create", "configmap", &format!("map-{attempt}")], "");
        if !outcome.ok {
            return assert_has(&outcome.stderr, &["denied request: in default"]);
        }
    }
    panic!("the policy has no effect");
}
