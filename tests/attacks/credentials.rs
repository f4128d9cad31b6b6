//! Credentials in logs (CVE-2019-11250, CVE-2020-8565, NCC 2022 WVM).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Method;
use serde_json::json;

use crate::support::{ADMIN, JSON, Target, token};

/// Sends a token as a bearer token, as a query parameter and as a WebSocket subprotocol.
///
/// No Kubernetes server reads the query parameter.
async fn send_token(target: &Target, token: &str) {
    let pods = format!("{}/api/v1/pods", target.server.url);
    let protocol = format!("base64url.bearer.authorization.k8s.io.{}", URL_SAFE_NO_PAD.encode(token));
    let requests = [
        target.http().get(&pods).bearer_auth(token),
        target.http().get(format!("{pods}?access_token={token}&limit=1")),
        target.http().get(&pods).header("Sec-WebSocket-Protocol", format!("{protocol}, v5.channel.k8s.io")),
    ];
    for request in requests {
        request.send().await.unwrap();
    }
}

/// The server runs with `-v=10` and an audit log; `search_logs` searches both.
#[tokio::test]
async fn logs_contain_no_credentials() {
    let target = Target::start(&["--enable-bootstrap-token-auth"]);
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    target.create(accounts, &json!({"metadata": {"name": "default"}})).await;
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let issued = target.create(&format!("{accounts}/default/token"), &request).await;
    let issued = issued["status"]["token"].as_str().unwrap().to_owned();
    let secret =
        |name: &str, r#type: &str, data| json!({"metadata": {"name": name}, "type": r#type, "stringData": data});
    let password = secret("s", "Opaque", json!({"p": "pass-word-77c1"}));
    target.create("/api/v1/namespaces/default/secrets", &password).await;
    let data =
        json!({"token-id": "a1b2c3", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true"});
    let bootstrap = secret("bootstrap-token-a1b2c3", "bootstrap.kubernetes.io/token", data);
    target.create("/api/v1/namespaces/kube-system/secrets", &bootstrap).await;
    let tokens = [token(ADMIN), issued.clone(), "a1b2c3.0123456789abcdef".into(), "unknown-token-91d0".into()];
    for token in &tokens {
        let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}});
        target.create("/apis/authentication.k8s.io/v1/tokenreviews", &review).await;
        send_token(&target, token).await;
    }
    let refused = target.send("mallory", Method::POST, accounts, JSON, "{}").await;
    assert_eq!(refused.code, 403);
    let audit = target.server.audit_log();
    for recorded in ["tokenreviews", "/default/token", "\"secrets\"", "access_token=REDACTED"] {
        assert!(audit.contains(recorded), "{recorded} is not in the audit log: {audit}");
    }
    let encoded: Vec<String> = tokens.iter().map(|token| URL_SAFE_NO_PAD.encode(token)).collect();
    let parts = ["0123456789abcdef", "MDEyMzQ1Njc4OWFiY2RlZg", "pass-word-77c1", "cGFzcy13b3JkLTc3YzE"];
    let signature = issued.rsplit('.').next();
    let secrets = tokens.iter().chain(&encoded).map(String::as_str).chain(parts).chain(signature);
    target.server.search_logs(&secrets.collect::<Vec<_>>());
}
