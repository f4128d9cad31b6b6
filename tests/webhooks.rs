//! Admission webhooks of a real HTTPS server (`tests/webhook/`), which allows, refuses, changes, hangs and talks nonsense.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use common::kubectl::{Kubectl, assert_has};
use common::{Outcome, Server, go};
use needs::needs;

/// A webhook that runs, and a server that calls it.
struct Hooked {
    kubectl: Kubectl,
    webhook: Child,
    url: String,
    /// The webhook's authority as configurations hold it.
    authority: String,
}

impl Hooked {
    fn start() -> Hooked {
        Self::with(|_| Kubectl::start())
    }

    /// With a server that is started when the webhook's URL is known.
    fn with(server: impl FnOnce(&str) -> Kubectl) -> Hooked {
        let program = go::program("webhook");
        let mut webhook = Command::new(program).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(webhook.stdout.take().unwrap()).lines();
        let (url, authority) = (said.next().unwrap().unwrap(), said.next().unwrap().unwrap());
        Hooked { kubectl: server(&url), webhook, url, authority }
    }

    /// Has objects of a resource that are labelled `case: <name>` shown to the webhook, at a path.
    fn call(&self, kind: &str, name: &str, path: &str, rule: &str, more: &str) {
        let (url, authority) = (&self.url, &self.authority);
        let yaml = format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}.example.com}}\nwebhooks:\n\
             - name: {name}.example.com\n  clientConfig: {{url: '{url}/{path}', caBundle: {authority}}}\n  rules: [{rule}]\n  \
             objectSelector: {{matchLabels: {{case: {name}}}}}\n  sideEffects: None\n  admissionReviewVersions: [v1]\n{more}"
        );
        self.kubectl.run_with(&["create", "-f", "-"], &yaml);
    }

    /// Creates an object of a case until what comes of it is what is expected: configurations are followed, not read each time.
    fn create(&self, name: &str, yaml: &str, expected: impl Fn(&Outcome) -> bool) -> Outcome {
        let object = yaml.replace("CASE", name);
        for _ in 0..20 {
            let outcome = self.kubectl.try_run(&["create", "-f", "-"], &object);
            if expected(&outcome) {
                return outcome;
            }
            assert!(outcome.ok, "{}", outcome.stderr);
            self.kubectl.run_with(&["delete", "-f", "-"], &object);
        }
        panic!("{name}: nothing comes of the webhook");
    }
}

impl Drop for Hooked {
    fn drop(&mut self) {
        let _ = self.webhook.kill();
        let _ = self.webhook.wait();
    }
}

const VALIDATING: &str = "ValidatingWebhookConfiguration";
const CONFIG_MAPS: &str = "{apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}";
const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: CASE, labels: {case: CASE}}\n";

#[needs(go, kubectl)]
#[test]
fn what_a_webhook_says_counts() {
    let hooked = Hooked::start();
    let url = &hooked.url;
    let refused = |name: &str, path: &str, more: &str, expect: &str| {
        hooked.call(VALIDATING, name, path, CONFIG_MAPS, more);
        let outcome = hooked.create(name, CONFIG_MAP, |outcome| !outcome.ok);
        assert_has(&outcome.stderr, &[expect]);
    };
    let by = |name: &str| format!("failed calling webhook \"{name}.example.com\": ");
    refused(
        "deny",
        "deny",
        "",
        "admission webhook \"deny.example.com\" denied the request: no ConfigMap of v1, read as v1",
    );
    let late =
        format!("{}failed to call webhook: Post \"{url}/hang?timeout=1s\": context deadline exceeded", by("late"));
    refused("late", "hang", "  timeoutSeconds: 1\n", &late);
    refused("garbage", "garbage", "", &format!("{}couldn't get version/kind; json parse error", by("garbage")));
    refused("other", "other-uid", "", &format!("{}expected response.uid=", by("other")));
    let broken = "an error on the server (\"it broke\") has prevented the request from succeeding";
    refused("broken", "break", "", broken);

    hooked.call(VALIDATING, "warned", "warn", CONFIG_MAPS, "");
    hooked.create("warned", CONFIG_MAP, |outcome| outcome.ok && outcome.stderr.contains("Warning: seen"));
    hooked.call(VALIDATING, "lenient", "break", CONFIG_MAPS, "  failurePolicy: Ignore\n");
    hooked.create("lenient", CONFIG_MAP, |outcome| outcome.ok);
    hooked.call("MutatingWebhookConfiguration", "patched", "patch", CONFIG_MAPS, "");
    hooked.create("patched", CONFIG_MAP, |outcome| {
        outcome.ok
            && hooked.kubectl.run(&["get", "configmap", "patched", "-o", "jsonpath={.metadata.labels.patched}"])
                == "yes"
    });
}

#[needs(go, kubectl)]
#[test]
fn a_webhook_sees_the_version_that_it_asks_for() {
    let hooked = Hooked::start();
    let rule =
        "{apiGroups: [autoscaling], apiVersions: [v1], resources: [horizontalpodautoscalers], operations: [CREATE]}";
    let autoscaler = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: CASE, labels: {case: CASE}}\n\
                      spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n";
    hooked.call(VALIDATING, "old", "deny", rule, "  matchPolicy: Equivalent\n");
    let outcome = hooked.create("old", autoscaler, |outcome| !outcome.ok);
    assert_has(&outcome.stderr, &["no HorizontalPodAutoscaler of v2, read as autoscaling/v1"]);
}

/// The kubeconfig in the configuration of the plugin says who the server is to a webhook.
#[needs(go, kubectl)]
#[test]
fn a_webhook_knows_the_server_by_the_configuration_of_the_plugin() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let hooked = Hooked::with(|url| {
        let host = url.trim_start_matches("https://");
        let users =
            format!("users:\n- {{name: '{host}', user: {{token: known}}}}\n- {{name: '*', user: {{token: other}}}}\n");
        std::fs::write(file("hooks"), users).unwrap();
        let configuration = format!(
            "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n\
             - name: ValidatingAdmissionWebhook\n  configuration:\n    apiVersion: apiserver.config.k8s.io/v1\n    \
             kind: WebhookAdmissionConfiguration\n    kubeConfigFile: {}\n",
            file("hooks")
        );
        std::fs::write(file("admission"), configuration).unwrap();
        let flag = format!("--admission-control-config-file={}", file("admission"));
        Kubectl(Server::start_with(&folder.path().join("server"), &[&flag]))
    });
    hooked.call(VALIDATING, "who", "who", CONFIG_MAPS, "");
    let outcome = hooked.create("who", CONFIG_MAP, |outcome| !outcome.ok);
    assert_has(&outcome.stderr, &["asked with \"Bearer known\""]);
}

/// What a webhook makes of a custom resource obeys its schema again: fields that it does not know go, defaults come back.
#[needs(go, kubectl)]
#[test]
fn a_custom_resource_obeys_its_schema_after_a_webhook() {
    let hooked = Hooked::start();
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: gears.example.com}\n\
        spec:\n  group: example.com\n  scope: Namespaced\n  names: {plural: gears, kind: Gear}\n  versions:\n  \
        - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        \
        properties:\n          spec:\n            type: object\n            properties:\n              \
        size: {type: integer, default: 3}\n              kept: {type: string}\n";
    hooked.kubectl.run_with(&["create", "-f", "-"], definition);
    hooked.kubectl.run(&["wait", "--for=condition=Established", "crd/gears.example.com"]);
    let rule = "{apiGroups: [example.com], apiVersions: [v1], resources: [gears], operations: [CREATE]}";
    hooked.call("MutatingWebhookConfiguration", "unlike", "unlike", rule, "");
    let gear =
        "apiVersion: example.com/v1\nkind: Gear\nmetadata: {name: CASE, labels: {case: CASE}}\nspec: {kept: x}\n";
    let field = |path: &str| hooked.kubectl.run(&["get", "gear", "unlike", "-o", &format!("jsonpath={{{path}}}")]);
    hooked.create("unlike", gear, |outcome| outcome.ok && field(".metadata.labels.patched") == "yes");
    assert_eq!(field(".spec"), r#"{"kept":"x","size":3}"#);
}
