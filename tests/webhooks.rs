//! Admission webhooks of a real HTTPS server (`tests/webhook/`), which allows, denies, patches,
//! hangs and sends invalid responses.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use common::kubectl::{Kubectl, assert_has};
use common::{Outcome, Server, go};
use needs::needs;

/// A running webhook, and a server that calls it.
struct WebhookServer {
    kubectl: Kubectl,
    webhook: Child,
    url: String,
    /// The webhook's CA bundle, encoded in base64.
    authority: String,
}

impl WebhookServer {
    fn start() -> WebhookServer {
        Self::with(|_| Kubectl::start())
    }

    /// Starts the webhook, then a server that gets the webhook's URL.
    fn with(server: impl FnOnce(&str) -> Kubectl) -> WebhookServer {
        let program = go::program("webhook");
        let mut webhook = Command::new(program).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(webhook.stdout.take().unwrap()).lines();
        let (url, authority) = (lines.next().unwrap().unwrap(), lines.next().unwrap().unwrap());
        WebhookServer { kubectl: server(&url), webhook, url, authority }
    }

    /// Registers the webhook, at this path, for objects with the label `case: <name>`.
    fn call(&self, kind: &str, name: &str, path: &str, rule: &str, more: &str) {
        let (url, authority) = (&self.url, &self.authority);
        let yaml = format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}.example.com}}\nwebhooks:\n\
             - name: {name}.example.com\n  clientConfig: {{url: '{url}/{path}', caBundle: {authority}}}\n  rules: [{rule}]\n  \
             objectSelector: {{matchLabels: {{case: {name}}}}}\n  sideEffects: None\n  admissionReviewVersions: [v1]\n{more}"
        );
        self.kubectl.run_with(&["create", "-f", "-"], &yaml);
    }

    /// Creates an object until the outcome is the expected one: the server learns of configurations
    /// by a watch.
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
        panic!("{name}: the webhook has no effect");
    }
}

impl Drop for WebhookServer {
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
fn webhook_responses_are_enforced() {
    let webhook_server = WebhookServer::start();
    let url = &webhook_server.url;
    let refused = |name: &str, path: &str, more: &str, expect: &str| {
        webhook_server.call(VALIDATING, name, path, CONFIG_MAPS, more);
        let outcome = webhook_server.create(name, CONFIG_MAP, |outcome| !outcome.ok);
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

    webhook_server.call(VALIDATING, "warned", "warn", CONFIG_MAPS, "");
    webhook_server.create("warned", CONFIG_MAP, |outcome| outcome.ok && outcome.stderr.contains("Warning: seen"));
    webhook_server.call(VALIDATING, "lenient", "break", CONFIG_MAPS, "  failurePolicy: Ignore\n");
    webhook_server.create("lenient", CONFIG_MAP, |outcome| outcome.ok);
    webhook_server.call("MutatingWebhookConfiguration", "patched", "patch", CONFIG_MAPS, "");
    webhook_server.create("patched", CONFIG_MAP, |outcome| {
        outcome.ok
            && webhook_server.kubectl.run(&["get", "configmap", "patched", "-o", "jsonpath={.metadata.labels.patched}"])
                == "yes"
    });
}

#[needs(go, kubectl)]
#[test]
fn webhook_receives_the_requested_version() {
    let webhook_server = WebhookServer::start();
    let rule =
        "{apiGroups: [autoscaling], apiVersions: [v1], resources: [horizontalpodautoscalers], operations: [CREATE]}";
    let autoscaler = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: CASE, labels: {case: CASE}}\n\
                      spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n";
    webhook_server.call(VALIDATING, "old", "deny", rule, "  matchPolicy: Equivalent\n");
    let outcome = webhook_server.create("old", autoscaler, |outcome| !outcome.ok);
    assert_has(&outcome.stderr, &["no HorizontalPodAutoscaler of v2, read as autoscaling/v1"]);
}

/// The server authenticates to a webhook with the kubeconfig in the plugin's configuration.
#[needs(go, kubectl)]
#[test]
fn webhook_receives_configured_credentials() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let webhook_server = WebhookServer::with(|url| {
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
    webhook_server.call(VALIDATING, "authorization", "authorization", CONFIG_MAPS, "");
    let outcome = webhook_server.create("authorization", CONFIG_MAP, |outcome| !outcome.ok);
    assert_has(&outcome.stderr, &["called with \"Bearer known\""]);
}

/// A custom resource is pruned and defaulted again after a webhook changed it.
#[needs(go, kubectl)]
#[test]
fn custom_resource_is_pruned_and_defaulted_after_webhook() {
    let webhook_server = WebhookServer::start();
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: gears.example.com}\n\
        spec:\n  group: example.com\n  scope: Namespaced\n  names: {plural: gears, kind: Gear}\n  versions:\n  \
        - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        \
        properties:\n          spec:\n            type: object\n            properties:\n              \
        size: {type: integer, default: 3}\n              kept: {type: string}\n";
    webhook_server.kubectl.run_with(&["create", "-f", "-"], definition);
    webhook_server.kubectl.run(&["wait", "--for=condition=Established", "crd/gears.example.com"]);
    let rule = "{apiGroups: [example.com], apiVersions: [v1], resources: [gears], operations: [CREATE]}";
    webhook_server.call("MutatingWebhookConfiguration", "off-schema", "off-schema", rule, "");
    let gear =
        "apiVersion: example.com/v1\nkind: Gear\nmetadata: {name: CASE, labels: {case: CASE}}\nspec: {kept: x}\n";
    let field =
        |path: &str| webhook_server.kubectl.run(&["get", "gear", "off-schema", "-o", &format!("jsonpath={{{path}}}")]);
    webhook_server.create("off-schema", gear, |outcome| outcome.ok && field(".metadata.labels.patched") == "yes");
    assert_eq!(field(".spec"), r#"{"kept":"x","size":3}"#);
}
