//! Audit log events of requests (NCC 2022 R44).

use std::time::{Duration, Instant};

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::support::{ADMIN, Target, http_client, token};
use crate::tls::Authority;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Waits for the last audit event of a request and returns it.
async fn event(target: &Target, id: &str) -> Value {
    let begin = Instant::now();
    loop {
        let log = target.server.audit_log();
        let events = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut events = events.filter(|event| event["auditID"] == id && event["stage"] == "ResponseComplete");
        if let Some(event) = events.next() {
            return event;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "no event of {id}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// NCC 2022 R44: events name the authenticator of each user and the user behind an impersonated
/// one.
#[tokio::test]
async fn audit_events_name_the_authenticator() {
    let (folder, clients, proxies) =
        (tempfile::tempdir().unwrap(), Authority::new("clients"), Authority::new("proxies"));
    let file = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name).display().to_string()
    };
    let target = Target::start(&[
        "--enable-bootstrap-token-auth",
        &format!("--client-ca-file={}", file("clients.crt", &clients.pem)),
        &format!("--requestheader-client-ca-file={}", file("proxies.crt", &proxies.pem)),
        "--requestheader-allowed-names=proxy",
        "--requestheader-username-headers=X-Remote-User",
    ]);
    target.create_default_account().await;
    let bootstrap = target.create_bootstrap_token().await;
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let issued = target.create("/api/v1/namespaces/default/serviceaccounts/default/token", &request).await;
    let issued = issued["status"]["token"].as_str().unwrap().to_owned();

    let url = format!("{}{MAPS}", target.server.url);
    let with_certificate = |authority: &Authority, name: &str| -> RequestBuilder {
        let pair = authority.issue(name, &[], Duration::from_secs(3600));
        let identity = reqwest::Identity::from_pem(format!("{}{}", pair.key, pair.certificate).as_bytes()).unwrap();
        http_client(&target.server).identity(identity).build().unwrap().get(&url)
    };
    let with_token = |token: &str| target.http().get(&url).bearer_auth(token);
    let account = "system:serviceaccount:default:default";
    for (source, user, request) in [
        ("tokenfile", "mallory", with_token(&token("mallory"))),
        ("serviceaccount", account, with_token(&issued)),
        ("bootstraptoken", "system:bootstrap:a1b2c3", with_token(&bootstrap)),
        ("x509", "jane", with_certificate(&clients, "jane")),
        ("requestheader", "june", with_certificate(&proxies, "proxy").header("X-Remote-User", "june")),
        ("", "system:anonymous", target.http().get(&url)),
    ] {
        let id = format!("by-{source}");
        let begin = Instant::now();
        // The authenticator learns of bootstrap tokens by a watch, so a new one takes a moment to
        // count.
        while request.try_clone().unwrap().header("Audit-ID", &id).send().await.unwrap().status() != 403 {
            assert!(begin.elapsed() < Duration::from_secs(60), "{user} is not authenticated");
        }
        let log = target.server.audit_log();
        let events = || log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        event(&target, &id).await;
        let events: Vec<Value> = events().filter(|event| event["auditID"] == id).collect();
        let mut of_user = events.iter().filter(|event| event["user"]["username"] == user);
        let found = of_user.next_back().unwrap_or_else(|| panic!("no event of {user}: {events:#?}"));
        let named = found["annotations"]["authentication.k8s.io/authenticator"].as_str().unwrap_or_default();
        assert_eq!(named, source, "{found}");
    }

    let impersonating = target.request(ADMIN, Method::GET, MAPS).header("Impersonate-User", "alice");
    assert_eq!(impersonating.header("Audit-ID", "as-alice").send().await.unwrap().status(), 403);
    let found = event(&target, "as-alice").await;
    assert_eq!((&found["user"]["username"], &found["impersonatedUser"]["username"]), (&json!(ADMIN), &json!("alice")));
    assert_eq!(found["annotations"]["authentication.k8s.io/authenticator"], "tokenfile");
    target.assert_alive().await;
}
