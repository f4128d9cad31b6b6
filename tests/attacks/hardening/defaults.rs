//! Behavior without any of the flags (the column "default here" of the table in
//! `docs/security.md`).

use std::process::Command;

use serde_json::json;

use super::{DEFAULT, User, event, handshakes, is_stored, pod, service_with_external_address};
use crate::common::{self, PROGRAM, Server};
use crate::tls::Dialer;

/// CIS 1.2.1, 1.2.2, 1.2.6, 1.2.8, 1.2.15, 1.2.25: default authentication and authorization.
#[tokio::test]
async fn default_rights_are_limited_to_administrator() {
    let server = Server::start();
    let admin = User::administrator(&server.url, &server.kubeconfig());
    let authority = std::fs::read_to_string(server.data().join("pki/ca.crt")).unwrap();
    let anonymous = User::new(&server.url, &authority, None);
    for path in ["/livez", "/readyz", "/healthz", "/version"] {
        assert_eq!(anonymous.code(path).await, 200, "{path}");
    }
    for path in [
        "/api/v1/secrets",
        "/api/v1/namespaces",
        "/api",
        "/apis",
        "/metrics",
        "/debug/pprof/",
        "/logs/",
        "/openapi/v2",
        "/flagz",
        "/statusz",
        "/configz",
    ] {
        assert_eq!(anonymous.code(path).await, 403, "{path}");
        assert_eq!(anonymous.code_with("any-token", path).await, 401, "{path} with a token");
    }
    assert_eq!(admin.code("/api/v1/secrets").await, 200);
    assert_eq!(admin.code("/debug/pprof/").await, 200, "--profiling is true by default");
}

/// CIS 1.2.3, 1.2.9 to 1.2.14, 1.2.27, 1.2.30: default admission plugins and storage.
#[tokio::test]
async fn default_admission_plugins_and_storage() {
    let server = Server::start();
    let admin = User::administrator(&server.url, &server.kubeconfig());
    let pods = format!("{DEFAULT}/pods");
    let without_account = admin.create(&pods, &pod("early")).await;
    assert_eq!(without_account.code, 403, "ServiceAccount is on: {}", without_account.body);
    let lost = admin.create("/api/v1/namespaces/nowhere/configmaps", &json!({"metadata": {"name": "lost"}})).await;
    assert_eq!(lost.code, 404, "NamespaceLifecycle is on: {}", lost.body);
    admin.create(&format!("{DEFAULT}/serviceaccounts"), &json!({"metadata": {"name": "default"}})).await;
    let created = admin.create(&pods, &pod("web")).await;
    let policy = &created.body["spec"]["containers"][0]["imagePullPolicy"];
    assert_eq!((created.code, policy), (201, &json!("IfNotPresent")), "AlwaysPullImages is off");
    let service = admin.create(&format!("{DEFAULT}/services"), &service_with_external_address()).await;
    assert_eq!(service.code, 201, "DenyServiceExternalIPs is off: {}", service.body);
    for number in 0..20 {
        assert_eq!(admin.create(&format!("{DEFAULT}/events"), &event(number)).await.code, 201, "EventRateLimit is off");
    }
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"key": "in-the-clear-83b1"}});
    let plain = json!({"metadata": {"name": "m"}, "data": {"key": "in-the-clear-93c7"}});
    assert_eq!(admin.create(&format!("{DEFAULT}/secrets"), &secret).await.code, 201);
    assert_eq!(admin.create(&format!("{DEFAULT}/configmaps"), &plain).await.code, 201);
    assert!(is_stored(server.data(), "in-the-clear-93c7"), "nothing is encrypted by default");
    assert!(admin.token_life("web").await > 300 * 24 * 3600, "tokens of pods last a year by default");
}

/// CIS 1.2.16 to 1.2.21: the defaults in the help text.
#[test]
fn help_text_states_defaults() {
    let help = common::run(Command::new(PROGRAM).arg("--help"), b"").stdout;
    for (flag, default) in [
        ("--audit-log-maxage ", "366"),
        ("--audit-log-maxbackup ", "100"),
        ("--audit-log-maxsize ", "100"),
        ("--request-timeout ", "1m0s"),
        ("--service-account-lookup[", "true"),
        ("--authorization-mode ", "RBAC"),
        ("--anonymous-auth[", "true"),
        ("--profiling[", "true"),
        ("--service-account-extend-token-expiration[", "true"),
    ] {
        let rest = help.split_once(&format!("\n      {flag}"));
        let (_, rest) = rest.unwrap_or_else(|| panic!("{flag} is not in the help"));
        let text = rest
            .split("\n\n")
            .next()
            .unwrap()
            .split("\n      --")
            .next()
            .unwrap()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(text.ends_with(&format!("[default: {default}]")), "{flag}: {text}");
    }
    for flag in ["--audit-log-path ", "--token-auth-file ", "--kubelet-certificate-authority ", "--etcd-cafile "] {
        let rest = help.split_once(&format!("\n      {flag}"));
        let (_, rest) = rest.unwrap_or_else(|| panic!("{flag} is not in the help"));
        assert!(!rest.split("\n      --").next().unwrap().contains("[default:"), "{flag}");
    }
}

/// CIS 1.2.29: no cipher suites without forward secrecy or authenticated encryption, no versions
/// before TLS 1.2.
#[tokio::test]
async fn default_settings_reject_weak_handshakes() {
    let server = Server::start();
    let address = server.url.trim_start_matches("https://");
    handshakes::assert_weak_handshakes_fail(address).await;
    for suite in handshakes::SUITES_OF_TLS12 {
        let client = Dialer::with_suites(&server, &server.data().join("pki/ca.crt"), &[suite]);
        assert!(client.tls().await.is_ok(), "{:?}", suite.suite());
    }
}
