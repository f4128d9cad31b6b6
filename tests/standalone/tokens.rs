//! Tokens of service accounts in secrets that are unused.

use std::time::{Duration, Instant};

use needs::needs;
use serde_json::{Value, json};

use super::{eventually, start_with};
use crate::common::kubectl::Kubectl;

const TRACKING: &str = "kube-apiserver-legacy-service-account-token-tracking";
const INVALID_SINCE: &str = "kubernetes.io/legacy-token-invalid-since";
/// Tokens that were not used for a second are unused.
const PERIOD: &str = "--legacy-service-account-token-clean-up-period=1s";

impl Kubectl {
    fn create_token(&self, name: &str) {
        self.apply(&json!({
            "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token",
            "metadata": {
                "name": name, "namespace": "default", "annotations": {"kubernetes.io/service-account.name": "robot"},
            },
        }));
    }

    fn labels(&self, secret: &str) -> Value {
        self.json(&["get", "secret", secret])["metadata"]["labels"].clone()
    }
}

#[needs(kubectl)]
#[test]
fn unused_generated_tokens_become_invalid_and_are_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let kubectl = start_with(folder.path(), &[PERIOD]);
    kubectl.run(&["create", "serviceaccount", "robot"]);
    ["generated", "mounted", "manual"].iter().for_each(|name| kubectl.create_token(name));
    let secrets = r#"{"secrets":[{"name":"generated"},{"name":"mounted"}]}"#;
    kubectl.run(&["patch", "serviceaccount", "robot", "--type=merge", "-p", secrets]);
    kubectl.apply(&json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "containers": [{"name": "a", "image": "a"}],
            "volumes": [{"name": "token", "secret": {"secretName": "mounted"}}],
        },
    }));
    let since = r#"{"data":{"since":"2020-01-01"}}"#;
    kubectl.run(&["patch", "configmap", TRACKING, "-n", "kube-system", "--type=merge", "-p", since]);
    let created = Instant::now();
    eventually("the age of the tokens", || (created.elapsed() > Duration::from_secs(3)).then_some(()));
    // Tokens are looked at when the controllers start, and once a day.
    kubectl.0.kill();
    let kubectl = start_with(folder.path(), &[PERIOD]);
    let invalid = eventually("the label", || kubectl.labels("generated")[INVALID_SINCE].as_str().map(str::to_owned));
    assert_eq!(invalid.len(), "2026-01-31".len());
    assert_eq!((kubectl.labels("mounted"), kubectl.labels("manual")), (Value::Null, Value::Null));
    kubectl.run(&["label", "secret", "generated", "--overwrite", &format!("{INVALID_SINCE}=2020-01-01")]);
    kubectl.0.kill();
    let kubectl = start_with(folder.path(), &[PERIOD]);
    eventually("the end of the token", || (!kubectl.exists(&["secret", "generated"])).then_some(()));
    assert!(kubectl.exists(&["secret", "mounted"]) && kubectl.exists(&["secret", "manual"]));
}
