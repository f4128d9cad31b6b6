//! Authorizers of a configuration file, with webhooks over HTTPS.

use super::*;
use crate::policy_rule::PolicyRule;
use crate::testing::Https;
use prometheus::{Registry, TextEncoder};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

/// Allows every request; it stands for RBAC, the last authorizer.
struct Last;

impl Authorizer for Last {
    fn authorize<'a>(&'a self, _: &'a AuthorizationAttributes<'a>) -> BoxFuture<'a, Decision> {
        Box::pin(std::future::ready(Decision::Allow("last".into())))
    }

    fn rules<'a>(&'a self, _: &'a User, _: &'a str) -> BoxFuture<'a, UserRules> {
        Box::pin(std::future::ready(UserRules {
            rules: vec![PolicyRule::paths(&["get"], &["/"])],
            ..UserRules::default()
        }))
    }
}

fn webhook(name: &str, kubeconfig: &NamedTempFile, more: &Value) -> Value {
    let mut webhook = json!({
        "timeout": "3s", "subjectAccessReviewVersion": "v1", "matchConditionSubjectAccessReviewVersion": "v1",
        "failurePolicy": "Deny", "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": kubeconfig.path()},
    });
    webhook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"type": "Webhook", "name": name, "webhook": webhook})
}

fn document(authorizers: &[Value]) -> String {
    json!({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration", "authorizers": authorizers})
        .to_string()
}

fn start(file: &NamedTempFile, registry: &Registry) -> Result<Arc<ReloadableAuthorizer>, Error> {
    let metrics = Metrics::register(registry);
    let authorizers = StaticAuthorizers { rbac: Arc::new(Last), node: None, abac: None, metrics, route: Route::DIRECT };
    let path = file.path().to_owned();
    let read = load(&path)?;
    ReloadableAuthorizer::start(path, read, authorizers, Reloads::register(registry, "authorization", ""))
}

async fn decision(authorizer: &ReloadableAuthorizer, user: &str, resource: &str) -> Decision {
    let user = User::new(user, ["dev"]);
    authorizer.authorize(&AuthorizationAttributes::resource(&user, "get", "", resource)).await
}

#[tokio::test]
async fn reloads_authorizers_of_file() {
    let server = Https::start(|_, review| {
        let resource = &review["spec"]["resourceAttributes"]["resource"];
        (200, json!({"status": {"allowed": false, "denied": resource == "secrets", "reason": "not yours"}}))
    })
    .await;
    let broken = Https::start(|_, _| (400, Value::Null)).await;
    let (one, two) = (server.kubeconfig(), broken.kubeconfig());
    let rbac = json!({"type": "RBAC", "name": "rbac"});
    let only_jane = json!({"matchConditions": [{"expression": "request.user == 'jane'"}]});
    let file = NamedTempFile::new().unwrap();
    let write = |authorizers: &[Value]| std::fs::write(file.path(), document(authorizers)).unwrap();
    write(&[webhook("one", &one, &json!({})), webhook("two", &two, &only_jane), rbac.clone()]);
    let registry = Registry::new();
    let authorizer = start(&file, &registry).unwrap();
    for (user, resource, expect) in [
        ("bob", "pods", Decision::Allow("last".into())),
        ("bob", "secrets", Decision::Deny("not yours".into())),
        ("jane", "pods", Decision::Deny("".into())),
    ] {
        assert_eq!(decision(&authorizer, user, resource).await, expect, "{user} {resource}");
    }
    let text = TextEncoder::new().encode_to_string(&registry.gather()).unwrap();
    for line in [
        "apiserver_authorization_decisions_total{decision=\"denied\",name=\"one\",type=\"Webhook\"} 1",
        "apiserver_authorization_decisions_total{decision=\"allowed\",name=\"rbac\",type=\"RBAC\"} 1",
        "apiserver_authorization_match_condition_exclusions_total{name=\"two\",type=\"Webhook\"} 1",
        "apiserver_authorization_webhook_evaluations_total{name=\"two\",result=\"error\"} 1",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }

    // An invalid configuration is rejected. The failure counter shows that the file was read.
    write(&[webhook("one", &one, &json!({}))]);
    let server = options::identity::hash(&options::identity::of_host(""));
    let failures =
        format!("config_controller_automatic_reloads_total{{apiserver_id_hash=\"{server}\",status=\"failure\"}} 1");
    while !TextEncoder::new().encode_to_string(&registry.gather()).unwrap().contains(&failures) {
        tokio::task::yield_now().await;
    }
    assert_eq!(decision(&authorizer, "bob", "secrets").await, Decision::Deny("not yours".into()));
    write(&[rbac]);
    while decision(&authorizer, "bob", "secrets").await != Decision::Allow("last".into()) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn rejects_invalid_configurations() {
    let file = NamedTempFile::new().unwrap();
    let missing = json!({"type": "Webhook", "name": "A", "webhook": {"timeout": "1m", "connectionInfo": {"type": "KubeConfigFile"},
        "matchConditions": [{"expression": "request.user"}]}});
    for (authorizers, expect) in [
        (vec![], "authorizers: Required value: at least one authorization mode must be defined"),
        (vec![json!({"type": "RBAC", "name": "roles"})], "expected name rbac for authorizer RBAC instead of roles"),
        (
            vec![json!({"type": "Magic", "name": "x"})],
            r#"authorizers[0].type: Unsupported value: "Magic": supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook""#,
        ),
        (
            vec![json!({"type": "RBAC", "name": "rbac"}), json!({"type": "RBAC", "name": "rbac"})],
            "authorizers[1].type: Duplicate value: \"RBAC\"",
        ),
        (
            vec![missing],
            r#"[authorizers[0].name: Invalid value: "A": authorizer name is invalid: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), authorizers[0].timeout: Invalid value: "1m0s": must be > 0s and <= 30s, authorizers[0].subjectAccessReviewVersion: Required value, authorizers[0].matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified, authorizers[0].failurePolicy: Required value, authorizers[0].connectionInfo.kubeConfigFile: Required value, authorizers[0].matchConditions[0].expression: Invalid value: "request.user": must evaluate to bool but got string]"#,
        ),
    ] {
        std::fs::write(file.path(), document(&authorizers)).unwrap();
        assert_eq!(start(&file, &Registry::new()).map(drop).unwrap_err().to_string(), expect);
    }
}
