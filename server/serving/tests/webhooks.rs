//! Authentication and authorization webhooks: the reviews that they receive, and how their responses are applied.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::sync::{Arc, Mutex};

use authn::{TokenAuthenticator, TokenWebhook};
use authz::{AccessWebhook, AuthorizationAttributes, Authorizer, Metrics, Selectors};
use options::Options;
use prometheus::Registry;
use request::User;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A webhook server that records the reviews that it receives.
struct Reviews {
    received: Arc<Mutex<Vec<Value>>>,
    /// The directory of its kubeconfig.
    folder: TempDir,
}

impl Reviews {
    /// Starts a server that replies to every review with the status that `status` returns for its spec.
    async fn start(status: fn(&Value) -> Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let folder = tempfile::tempdir().unwrap();
        let server = format!("http://{}/review", listener.local_addr().unwrap());
        let kubeconfig = json!({
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "x", "user": "y"}}],
            "clusters": [{"name": "x", "cluster": {"server": server}}],
            "users": [{"name": "y", "user": {"token": "front"}}],
        });
        std::fs::write(folder.path().join("config"), kubeconfig.to_string()).unwrap();
        let seen = received.clone();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut text = Vec::new();
                let review = loop {
                    stream.read_buf(&mut text).await.unwrap();
                    let body = text.windows(4).position(|w| w == b"\r\n\r\n").map(|at| &text[at + 4..]);
                    if let Some(Ok(review)) = body.map(serde_json::from_slice::<Value>) {
                        break review;
                    }
                };
                assert!(String::from_utf8_lossy(&text).contains("authorization: Bearer front"));
                let body = json!({"status": status(&review["spec"])}).to_string();
                seen.lock().unwrap().push(review);
                let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
                stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
            }
        });
        Reviews { received, folder }
    }

    fn options(&self, flag: &str, more: &[&str]) -> Options {
        let config = format!("--{flag}={}", self.folder.path().join("config").display());
        Options::parse_from(["kube-apiserver", &config].into_iter().chain(more.iter().copied())).unwrap()
    }

    fn received(&self) -> Vec<Value> {
        self.received.lock().unwrap().clone()
    }
}

#[tokio::test]
async fn authorizes_by_webhook() {
    let reviews = Reviews::start(|spec| match spec["resourceAttributes"]["resource"].as_str() {
        Some("pods") => json!({"allowed": true, "reason": "pods are free"}),
        Some("secrets") => json!({"allowed": false, "denied": true, "reason": "never"}),
        _ => json!({"allowed": false, "reason": "no idea"}),
    })
    .await;
    let options = reviews.options("authorization-webhook-config-file", &["--authorization-mode=Webhook"]);
    let metrics = Metrics::register(&Registry::new());
    let webhook = AccessWebhook::load(options.authorization.webhook.as_ref().unwrap(), &metrics).unwrap();
    let user = User::new("jane", ["dev"]);
    let of = |resource| AuthorizationAttributes {
        namespace: "shop",
        name: "x",
        ..AuthorizationAttributes::resource(&user, "get", "", resource)
    };
    let listed = AuthorizationAttributes {
        selectors: Selectors::parse("spec.nodeName=n", "a in (b,c)"),
        ..AuthorizationAttributes::resource(&user, "list", "", "nodes")
    };
    for (attributes, expect) in [
        (of("pods"), "Allow(\"pods are free\")"),
        (of("pods"), "Allow(\"pods are free\")"),
        (of("secrets"), "Deny(\"never\")"),
        (listed, "NoOpinion(\"no idea\")"),
        (AuthorizationAttributes::path(&user, "get", "/healthz"), "NoOpinion(\"no idea\")"),
    ] {
        assert_eq!(format!("{:?}", webhook.authorize(&attributes).await), expect);
    }
    let received = reviews.received();
    assert_eq!(received.len(), 4, "the second request is served from the cache");
    assert_eq!(
        received[0],
        json!({"apiVersion": "authorization.k8s.io/v1beta1", "kind": "SubjectAccessReview", "spec": {
            "resourceAttributes": {"namespace": "shop", "verb": "get", "resource": "pods", "name": "x"},
            "user": "jane", "group": ["dev"],
        }})
    );
    assert_eq!(
        received[2]["spec"]["resourceAttributes"],
        json!({"verb": "list", "resource": "nodes",
            "fieldSelector": {"requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["n"]}]},
            "labelSelector": {"requirements": [{"key": "a", "operator": "In", "values": ["b", "c"]}]}})
    );
    assert_eq!(received[3]["spec"]["nonResourceAttributes"], json!({"path": "/healthz", "verb": "get"}));
}

#[tokio::test]
async fn authenticates_tokens_by_webhook() {
    let reviews = Reviews::start(|spec| match spec["token"].as_str() {
        Some("good") => json!({"authenticated": true, "user": {"username": "jane", "uid": "7", "groups": ["dev"],
            "extra": {"scope": ["a"]}}}),
        Some("narrow") => json!({"authenticated": true, "user": {"username": "jane"}, "audiences": ["other"]}),
        Some("wrong") => json!({"authenticated": false, "error": "revoked"}),
        _ => json!({"authenticated": false}),
    })
    .await;
    let flags = ["--authentication-token-webhook-version=v1"];
    let options = reviews.options("authentication-token-webhook-config-file", &flags);
    let audiences = vec!["api".to_owned()];
    let webhook = TokenWebhook::load(options.authentication.webhook.as_ref().unwrap(), audiences.clone()).unwrap();
    let authenticate = async |token: &str| match webhook.authenticate_token(token, &audiences).await {
        Ok(Some(found)) => {
            format!("{} {} {:?} {:?}", found.user.name, found.user.uid, found.user.groups, found.audiences)
        }
        Ok(None) => "unknown".into(),
        Err(why) => why.to_string(),
    };
    for (token, expect) in [
        ("good", "jane 7 [\"dev\"] [\"api\"]"),
        ("good", "jane 7 [\"dev\"] [\"api\"]"),
        ("narrow", "unknown"),
        ("wrong", "revoked"),
        ("other", "unknown"),
    ] {
        assert_eq!(authenticate(token).await, expect, "{token}");
    }
    let received = reviews.received();
    assert_eq!(received.len(), 4, "the second request is served from the cache");
    assert_eq!(
        received[0],
        json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": "good", "audiences": ["api"]}})
    );
}
