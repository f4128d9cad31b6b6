//! Audit events of requests to the built server.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "common/client.rs"]
mod client;
mod common;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::Server;
use http::Request;
use kube::Client;
use kube::client::Body;
use kube::config::{AuthInfo, Config, KubeConfigOptions, Kubeconfig};
use serde_json::{Value, json};

const POLICY: &str = r#"
apiVersion: audit.k8s.io/v1
kind: Policy
omitManagedFields: true
rules:
- {level: RequestResponse, resources: [{group: "", resources: [configmaps]}]}
- {level: Metadata, resources: [{group: "", resources: [pods, pods/exec, secrets, serviceaccounts/token]}]}
"#;

/// A server with an audit log, its administrator, and a client without credentials.
struct Audited {
    _server: Server,
    admin: Client,
    stranger: Client,
    log: PathBuf,
}

impl Audited {
    async fn start(folder: &Path) -> Self {
        Self::start_with(folder, POLICY, &[]).await
    }

    async fn start_with(folder: &Path, rules: &str, flags: &[&str]) -> Self {
        let (policy, log, tokens) = (folder.join("policy.yaml"), folder.join("audit.log"), folder.join("tokens.csv"));
        std::fs::write(&policy, rules).unwrap();
        std::fs::write(&tokens, "janes-token,jane,uid-jane,\"dev\"\n").unwrap();
        let own = [
            format!("--audit-policy-file={}", policy.display()),
            format!("--audit-log-path={}", log.display()),
            format!("--token-auth-file={}", tokens.display()),
        ];
        let flags: Vec<&str> = own.iter().map(String::as_str).chain(flags.iter().copied()).collect();
        let server = Server::start_with(folder, &flags);
        let admin = client::connect(&server).await;
        let kubeconfig = Kubeconfig::read_from(server.kubeconfig()).unwrap();
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
        config.auth_info = AuthInfo::default();
        let stranger = Client::try_from(config).unwrap();
        Audited { _server: server, admin, stranger, log }
    }

    /// Sends a request with an audit ID, as the administrator or with a bearer token, and reads the
    /// whole response.
    async fn send(&self, token: Option<&str>, id: &str, method: &str, path: &str, body: Value) -> u16 {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let mut request = Request::builder().method(method).uri(path).header("Audit-ID", id);
        if let Some(token) = token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let request = request.header("Content-Type", "application/json").body(Body::from(body)).unwrap();
        let client = if token.is_some() { &self.stranger } else { &self.admin };
        let response = client.send(request).await.unwrap();
        assert_eq!(response.headers()["audit-id"], id);
        let code = response.status().as_u16();
        response.into_body().collect_bytes().await.unwrap();
        code
    }

    /// Waits until the last event of a request is logged; returns its events.
    async fn events(&self, id: &str) -> Vec<Value> {
        self.events_of(id, |event| event["auditID"] == id).await
    }

    /// Waits until the last event of a described request is logged; returns the events.
    async fn events_of(&self, what: &str, is_of: impl Fn(&Value) -> bool) -> Vec<Value> {
        let begin = Instant::now();
        loop {
            let text = std::fs::read_to_string(&self.log).unwrap();
            let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok());
            let events: Vec<Value> = lines.filter(&is_of).collect();
            if events.last().is_some_and(|event| event["stage"] == "ResponseComplete") {
                return events;
            }
            assert!(begin.elapsed() < Duration::from_secs(30), "{what}: {events:?}");
            tokio::task::yield_now().await;
        }
    }
}

/// Returns stage and status code of each event.
fn stages(events: &[Value]) -> Vec<(&str, Option<u64>)> {
    events.iter().map(|e| (e["stage"].as_str().unwrap(), e["responseStatus"]["code"].as_u64())).collect()
}

const WHOLE: [(&str, Option<u64>); 1] = [("RequestReceived", None)];

#[tokio::test]
async fn audit_events_record_requests() {
    let folder = tempfile::tempdir().unwrap();
    let audited = Audited::start(folder.path()).await;
    let admin = &audited.admin;
    let maps = "/api/v1/namespaces/default/configmaps";

    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "map"}, "data": {"k": "v"}});
    assert_eq!(audited.send(None, "create", "POST", maps, map).await, 201);
    let events = audited.events("create").await;
    assert_eq!(stages(&events), [WHOLE[0], ("ResponseComplete", Some(201))]);
    let created = &events[1];
    assert_eq!(created["objectRef"]["name"], "map", "the name is that of the object, because the path has none");
    assert_eq!(created["requestObject"]["data"], json!({"k": "v"}));
    assert_eq!(created["requestObject"]["apiVersion"], "v1");
    assert!(created["responseObject"]["metadata"]["uid"].is_string());
    assert_eq!(created["responseObject"]["metadata"].get("managedFields"), None);
    assert_eq!(created["annotations"]["authorization.k8s.io/decision"], "allow");
    assert_eq!(created["annotations"]["authentication.k8s.io/authenticator"], "x509");
    assert_eq!((&created["sourceIPs"], &created["verb"]), (&json!(["127.0.0.1"]), &json!("create")));

    let patch = json!({"data": {"k": "w"}});
    let request = Request::patch(format!("{maps}/map")).header("Audit-ID", "patch");
    let request = request.header("Content-Type", "application/merge-patch+json");
    admin.send(request.body(Body::from(patch.to_string().into_bytes())).unwrap()).await.unwrap();
    let patched = audited.events("patch").await;
    assert_eq!(patched[1]["requestObject"], patch);
    assert_eq!(patched[1]["responseObject"]["data"]["k"], "w");

    let request = Request::get(maps).header("Audit-ID", "list").header("Accept", "application/vnd.kubernetes.protobuf");
    admin.send(request.body(Body::empty()).unwrap()).await.unwrap();
    let listed = &audited.events("list").await[1]["responseObject"];
    assert_eq!((&listed["kind"], &listed["items"][0]["data"]["k"]), (&json!("ConfigMapList"), &json!("w")));

    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    assert_eq!(audited.send(None, "account", "POST", accounts, json!({"metadata": {"name": "a"}})).await, 201);
    let request = json!({"spec": {"expirationSeconds": 600}});
    assert_eq!(audited.send(None, "token", "POST", &format!("{accounts}/a/token"), request).await, 201);
    let issued = &audited.events("token").await[1]["annotations"]["authentication.kubernetes.io/issued-credential-id"];
    assert!(issued.as_str().is_some_and(|id| id.starts_with("JTI=")), "{issued}");

    let watch = format!("{maps}?watch=1&timeoutSeconds=1");
    assert_eq!(audited.send(None, "watch", "GET", &watch, Value::Null).await, 200);
    let watched = audited.events("watch").await;
    assert_eq!(stages(&watched), [WHOLE[0], ("ResponseStarted", Some(200)), ("ResponseComplete", Some(200))]);
    assert_eq!(watched[2].get("responseObject"), None);

    assert_eq!(audited.send(Some("janes-token"), "denied", "GET", "/api/v1/pods", Value::Null).await, 403);
    let denied = audited.events("denied").await;
    assert_eq!(stages(&denied), [WHOLE[0], ("ResponseComplete", Some(403))]);
    assert_eq!(
        denied[1]["user"],
        json!({"username": "jane", "uid": "uid-jane", "groups": ["dev", "system:authenticated"]})
    );
    assert_eq!(denied[1]["responseStatus"]["reason"], "Forbidden");
    assert_eq!(denied[1]["annotations"]["authorization.k8s.io/decision"], "forbid");

    let exec = "/api/v1/namespaces/default/pods/none/exec?command=sh&stdout=1";
    assert_eq!(audited.send(None, "exec", "POST", exec, Value::Null).await, 404);
    let refused = audited.events("exec").await;
    assert_eq!(stages(&refused).last(), Some(&("ResponseComplete", Some(404))));
    assert_eq!(refused[0]["objectRef"]["subresource"], "exec");

    let secret =
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"p": "hidden-5c2"}});
    audited.send(None, "secret", "POST", "/api/v1/namespaces/default/secrets", secret).await;
    assert_eq!(audited.events("secret").await[1].get("requestObject"), None, "level Metadata has no objects");
    audited.send(None, "other", "GET", "/api/v1/nodes", Value::Null).await;
    let text = std::fs::read_to_string(&audited.log).unwrap();
    assert!(!text.contains("hidden-5c2") && !text.contains("\"other\""), "no rule, no event");
}

/// Records requests of two controllers.
const CONTROLLERS: &str = r#"
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: RequestResponse
  users: ["system:serviceaccount:kube-system:service-account-controller"]
  resources: [{group: "", resources: [serviceaccounts]}]
- level: Metadata
  users: ["system:serviceaccount:kube-system:namespace-controller"]
  verbs: [deletecollection]
  resources: [{group: "", resources: [configmaps]}]
"#;

/// Controllers send some requests for a kind of the catalog, and others for any resource.
#[tokio::test]
async fn audit_events_record_requests_of_controllers() {
    let folder = tempfile::tempdir().unwrap();
    let controllers = "--controllers=serviceaccount-controller,namespace-controller";
    let audited = Audited::start_with(folder.path(), CONTROLLERS, &[controllers]).await;
    let demo = json!({"metadata": {"name": "demo"}});
    assert_eq!(audited.send(None, "namespace", "POST", "/api/v1/namespaces", demo).await, 201);

    let is_of_demo = |event: &Value, verb: &str| event["verb"] == verb && event["objectRef"]["namespace"] == "demo";
    let created = audited.events_of("the account", |event| is_of_demo(event, "create")).await;
    assert_eq!(stages(&created), [WHOLE[0], ("ResponseComplete", Some(201))]);
    let event = &created[1];
    assert_eq!(event["user"]["username"], "system:serviceaccount:kube-system:service-account-controller");
    assert_eq!(event["userAgent"], "kube-controller-manager");
    assert_eq!(event["requestURI"], "/api/v1/namespaces/demo/serviceaccounts");
    assert_eq!((&event["objectRef"]["name"], &event["objectRef"]["apiVersion"]), (&json!("default"), &json!("v1")));
    assert_eq!(event["requestObject"]["metadata"]["name"], "default");
    assert!(event["responseObject"]["metadata"]["uid"].is_string(), "{event}");
    assert_eq!(created[0]["auditID"], event["auditID"]);
    assert_eq!(event["auditID"].as_str().map(str::len), Some(36));

    let map = json!({"metadata": {"name": "map"}});
    assert_eq!(audited.send(None, "map", "POST", "/api/v1/namespaces/demo/configmaps", map).await, 201);
    assert_eq!(audited.send(None, "deletion", "DELETE", "/api/v1/namespaces/demo", Value::Null).await, 200);
    let deleted = audited.events_of("the deletion", |event| is_of_demo(event, "deletecollection")).await;
    assert_eq!(stages(&deleted)[1], ("ResponseComplete", Some(200)));
    assert_eq!(deleted[1]["user"]["username"], "system:serviceaccount:kube-system:namespace-controller");
}
