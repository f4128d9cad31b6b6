//! Audit events of requests through the filter chain.

use std::path::Path;
use std::sync::{Arc, Mutex};

use audit::{Audit, AuditContext};
use authn::{Anonymous, AudienceAgnostic, Authentication, TokenFile};
use authz::{AlwaysDeny, Authorizer, UnionAuthorizer};
use machinery::status::{GroupResource, Status};
use options::Options;
use request::handler::FromFn;
use request::{Body, Handler, Request, Response};
use serde_json::{Value, json};
use telemetry::metrics::Metrics as ServerMetrics;
use tempfile::TempDir;

use crate::chain::Chain;
use crate::shutdown::Shutdown;
use crate::testing::Https;

/// A chain of filters with an audit log, around a handler that responds by path.
struct Recorded {
    folder: TempDir,
    audit: Arc<Audit>,
    chain: Arc<dyn Handler>,
}

fn reply(request: &Request) -> Response {
    let not_found = Status::not_found(GroupResource { group: "", resource: "pods" }, "gone");
    match request.uri().path() {
        "/api/v1/namespaces/shop/pods" => {
            let pieces: Vec<Result<http_body::Frame<bytes::Bytes>, std::convert::Infallible>> = Vec::new();
            Response::new(Body::stream(http_body_util::StreamBody::new(futures_util::stream::iter(pieces))))
        }
        "/api/v1/namespaces/shop/pods/gone" => request::respond::failure(request, &not_found),
        "/api/v1/namespaces/shop/pods/panic" => panic!("as it should"),
        _ => {
            AuditContext::of(request.extensions()).annotate("example.com/note", "seen");
            Response::new(Body::full("ok"))
        }
    }
}

impl Recorded {
    fn new(level: &str, flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let policy = folder.path().join("policy.yaml");
        let text = format!("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{{level: {level}}}]");
        std::fs::write(&policy, text).unwrap();
        let required = [
            format!("--audit-policy-file={}", policy.display()),
            format!("--audit-log-path={}", log(&folder).display()),
        ];
        let flags = required.into_iter().chain(flags.iter().map(|flag| (*flag).to_owned()));
        let options = Options::parse_from(["kube-apiserver".to_owned()].into_iter().chain(flags)).unwrap();
        let metrics = ServerMetrics::default();
        let audit = Audit::new(&options.audit, metrics.registry()).unwrap().unwrap();
        let tokens = TokenFile::parse("admin,admin,1,system:masters\njane,jane,2,dev").unwrap();
        let tokens = AudienceAgnostic { inner: tokens, audiences: vec!["api".into()] };
        let chain = Chain {
            console: None,
            options: &options,
            authentication: Authentication::new(Anonymous::Enabled, vec!["api".into()]).with_tokens(Arc::new(tokens)),
            authorizer: Arc::new(UnionAuthorizer::new([Arc::new(AlwaysDeny) as Arc<dyn Authorizer>])),
            flow_control: None,
            metrics,
            shutdown: Shutdown::default(),
            audit: Some(audit.clone()),
            tracer: None,
        };
        let chain = chain.around(FromFn(|request: Request| reply(&request))).unwrap();
        Recorded { folder, audit, chain }
    }

    /// Sends a request and reads its response to the end.
    async fn send(&self, token: &str, uri: &str) -> u16 {
        let request = http::Request::get(uri)
            .header("authorization", format!("Bearer {token}"))
            .header("audit-id", "the-request")
            .header("user-agent", "test")
            .body(Body::empty());
        let response = self.chain.handle(request.unwrap()).await;
        let code = response.status().as_u16();
        response.into_body().read(1 << 20).await.unwrap();
        code
    }

    /// The events so far, without times.
    async fn events(&self) -> Vec<Value> {
        self.audit.close().await;
        let text = std::fs::read_to_string(log(&self.folder)).unwrap();
        let event = |line: &str| {
            let mut event: Value = serde_json::from_str(line).unwrap();
            for time in ["requestReceivedTimestamp", "stageTimestamp"] {
                assert!(event.as_object_mut().unwrap().remove(time).is_some(), "{line}");
            }
            event
        };
        text.lines().map(event).collect()
    }
}

fn log(folder: &TempDir) -> std::path::PathBuf {
    Path::join(folder.path(), "logs/audit.log")
}

fn stages(events: &[Value]) -> Vec<String> {
    let line = |event: &Value| format!("{} {}", event["stage"].as_str().unwrap(), event["responseStatus"]["code"]);
    events.iter().map(line).collect()
}

#[tokio::test]
async fn records_request_at_each_stage() {
    let recorded = Recorded::new("Metadata", &[]);
    assert_eq!(recorded.send("admin", "/api/v1/namespaces/shop/pods/p?pretty=true").await, 200);
    let mut received = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": "the-request",
        "stage": "RequestReceived", "requestURI": "/api/v1/namespaces/shop/pods/p?pretty=true", "verb": "get",
        "user": {"username": "admin", "uid": "1", "groups": ["system:masters", "system:authenticated"]},
        "userAgent": "test",
        "objectRef": {"resource": "pods", "namespace": "shop", "name": "p", "apiVersion": "v1"},
        "annotations": {"authentication.k8s.io/authenticator": "tokenfile"},
    });
    let events = recorded.events().await;
    assert_eq!(events[0], received);
    received["stage"] = "ResponseComplete".into();
    received["responseStatus"] = json!({"metadata": {}, "code": 200});
    received["annotations"] = json!({
        "authentication.k8s.io/authenticator": "tokenfile", "authorization.k8s.io/decision": "allow",
        "authorization.k8s.io/reason": "", "example.com/note": "seen",
    });
    assert_eq!(events[1..], [received]);
}

#[tokio::test]
async fn records_outcome_of_requests() {
    for (token, uri, code, expect) in [
        ("admin", "/version", 200, &["RequestReceived null", "ResponseComplete 200"][..]),
        ("jane", "/version", 403, &["RequestReceived null", "ResponseComplete 403"]),
        ("unknown", "/version", 401, &["ResponseStarted 401"]),
        ("admin", "/version?timeout=soon", 400, &["ResponseStarted 400"]),
        ("admin", "/api/v1/namespaces/shop/pods/gone", 404, &["RequestReceived null", "ResponseComplete 404"]),
        ("admin", "/api/v1/namespaces/shop/pods/panic", 500, &["RequestReceived null", "Panic 500"]),
        (
            "admin",
            "/api/v1/namespaces/shop/pods?watch=1",
            200,
            &["RequestReceived null", "ResponseStarted 200", "ResponseComplete 200"],
        ),
        ("admin", "/api/v1/namespaces/shop/pods", 200, &["RequestReceived null", "ResponseComplete 200"]),
    ] {
        let recorded = Recorded::new("Metadata", &[]);
        assert_eq!(recorded.send(token, uri).await, code, "{uri}");
        assert_eq!(stages(&recorded.events().await), expect, "{uri}");
    }
}

#[tokio::test]
async fn records_status_of_rejected_requests() {
    let recorded = Recorded::new("RequestResponse", &["--audit-log-mode=batch"]);
    recorded.send("admin", "/api/v1/namespaces/shop/pods/gone").await;
    recorded.send("unknown", "/").await;
    let events = recorded.events().await;
    assert_eq!(
        events[1]["responseStatus"],
        json!({"metadata": {}, "status": "Failure", "message": "pods \"gone\" not found", "reason": "NotFound",
            "details": {"name": "gone", "kind": "pods"}, "code": 404})
    );
    assert_eq!(events[1]["responseObject"]["kind"], "Status");
    assert_eq!((&events[2]["user"], &events[2]["responseStatus"]["message"]), (&json!({}), &json!("Unauthorized")));
}

#[tokio::test]
async fn records_nothing_at_level_none() {
    let recorded = Recorded::new("None", &[]);
    recorded.send("admin", "/version").await;
    assert_eq!(recorded.events().await, [] as [Value; 0]);
}

#[tokio::test]
async fn truncates_large_events() {
    let flags = ["--audit-log-truncate-enabled", "--audit-log-truncate-max-event-size=900"];
    let recorded = Recorded::new("RequestResponse", &flags);
    recorded.send("admin", "/api/v1/namespaces/shop/pods/gone").await;
    recorded.send("admin", &format!("/version?x={}", "x".repeat(2000))).await;
    let events = recorded.events().await;
    assert_eq!(events[1]["annotations"]["audit.k8s.io/truncated"], "true");
    assert_eq!((events.len(), events[1].get("responseObject")), (2, None));
}

#[tokio::test]
async fn blocking_strict_rejects_requests_if_log_fails() {
    for (mode, code) in [("blocking", 200), ("blocking-strict", 500)] {
        let flags = ["--audit-log-path=/dev/full", "--audit-log-maxsize=0", &format!("--audit-log-mode={mode}")];
        assert_eq!(Recorded::new("Metadata", &flags).send("admin", "/version").await, code, "{mode}");
    }
}

#[tokio::test]
async fn webhook_receives_events_in_batches() {
    let posts = Arc::new(Mutex::new(Vec::new()));
    let seen = posts.clone();
    let server = Https::start(move |_, list| {
        let mut posts = posts.lock().unwrap();
        posts.push(list.clone());
        // The first request fails and is retried.
        (if posts.len() == 1 { 500 } else { 200 }, Value::Null)
    })
    .await;
    let kubeconfig = server.kubeconfig();
    let config = format!("--audit-webhook-config-file={}", kubeconfig.path().display());
    let flags = [&config, "--audit-webhook-batch-max-wait=1h", "--audit-webhook-initial-backoff=1ms"];
    let recorded = Recorded::new("Metadata", &flags);
    recorded.send("admin", "/version").await;
    recorded.send("jane", "/version").await;
    assert_eq!(recorded.events().await.len(), 4, "closing the audit log waits for pending events");
    let lists = seen.lock().unwrap().clone();
    assert_eq!(lists.len(), 2);
    assert_eq!(lists[0], lists[1]);
    assert_eq!((&lists[0]["kind"], &lists[0]["apiVersion"]), (&json!("EventList"), &json!("audit.k8s.io/v1")));
    let users: Vec<_> = lists[0]["items"].as_array().unwrap().iter().map(|event| &event["user"]["username"]).collect();
    assert_eq!(users, ["admin", "admin", "jane", "jane"]);
}
