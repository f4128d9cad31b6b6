//! Servers that impersonate a backend (NCC 2022 MRE, ToB 2019).
//!
//! One has a certificate of another authority, one a certificate for another name. Neither receives
//! a request.

use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::json;

use super::{PODS, TIMEOUT, availability, create_node, create_pod, register};
use crate::backend::{Backend, answer};
use crate::support::{ADMIN, Answer, JSON, Target};

async fn backend(names: &[&str]) -> Backend {
    Backend::start(names, |_| answer("200 OK", "Content-Type: text/plain\r\n", "{}")).await
}

/// Creates config maps until one is rejected: by the webhook, or because the webhook cannot be
/// called.
async fn refused(target: &Target, case: &str) -> Answer {
    let begin = Instant::now();
    for number in 0.. {
        let map = json!({"metadata": {"name": format!("{case}-{number}"), "labels": {"case": case}}}).to_string();
        let created = target.send(ADMIN, Method::POST, "/api/v1/namespaces/default/configmaps", JSON, map).await;
        if created.code != 201 {
            return created;
        }
        assert!(begin.elapsed() < TIMEOUT, "the webhook of {case} is not called");
    }
    unreachable!("there is a number for each request")
}

/// NCC 2022 MRE, for webhooks by URL.
#[tokio::test]
async fn webhook_certificates_are_verified() {
    let (target, other) = (Target::start(&[]), backend(&["localhost"]).await);
    for (case, host, authority, is_known) in [
        ("known", "localhost", None, true),
        ("unsigned", "localhost", Some(other.certificate.as_str()), false),
        ("misnamed", "127.0.0.1", None, false),
    ] {
        let webhook = backend(&["localhost"]).await;
        let config = json!({"metadata": {"name": case}, "webhooks": [{
            "name": "hook.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "objectSelector": {"matchLabels": {"case": case}},
            "clientConfig": {"url": format!("https://{host}:{}/judge", webhook.port),
                "caBundle": STANDARD.encode(authority.unwrap_or(&webhook.certificate))},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}],
        }]});
        target.create("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", &config).await;
        let answered = refused(&target, case).await;
        let was_called = webhook.received().iter().any(|text| text.contains("POST /judge"));
        assert_eq!(was_called, is_known, "{case}: {}", answered.body);
        let message = answered.body["message"].as_str().unwrap();
        assert_eq!(message.contains("x509: "), !is_known, "{case}: {message}");
    }
    target.assert_alive().await;
}

/// NCC 2022 MRE, for aggregated servers.
#[tokio::test]
async fn aggregated_server_certificates_are_verified() {
    let other = backend(&["back.default.svc"]).await;
    for (service, authority, is_known) in [
        ("back", None, true),
        ("back", Some(other.certificate.as_str()), false),
        // The certificate is for another service.
        ("front", None, false),
    ] {
        let (target, backend) = (Target::start(&[]), backend(&["back.default.svc"]).await);
        register(&target, service, backend.port, authority.unwrap_or(&backend.certificate)).await;
        assert_eq!(availability(&target).await, is_known, "{service}");
        let answered = target.get(ADMIN, "/apis/shop.example.com/v1/things").await;
        assert_eq!(answered.code, if is_known { 200 } else { 503 }, "{service}: {}", answered.body);
        assert_eq!(backend.received().is_empty(), !is_known, "{service}: {:?}", backend.received());
        target.assert_alive().await;
    }
}

/// NCC 2022 MRE, for kubelets.
#[tokio::test]
async fn kubelet_certificates_are_verified() {
    let (folder, address) = (tempfile::tempdir().unwrap(), "127.0.0.1");
    let (known, unsigned, misnamed) =
        (backend(&[address]).await, backend(&[address]).await, backend(&["elsewhere.example.com"]).await);
    let file = folder.path().join("kubelets.crt");
    std::fs::write(&file, format!("{}{}", known.certificate, misnamed.certificate)).unwrap();
    let target = Target::start(&[&format!("--kubelet-certificate-authority={}", file.display())]);
    target.create_default_account().await;
    for (node, kubelet, is_known) in
        [("known", &known, true), ("unsigned", &unsigned, false), ("misnamed", &misnamed, false)]
    {
        create_node(&target, node, address, kubelet.port).await;
        create_pod(&target, node, node).await;
        let logs = target.get(ADMIN, &format!("{PODS}/{node}/log")).await;
        assert_eq!(logs.code, if is_known { 200 } else { 500 }, "{node}: {}", logs.body);
        let message = logs.body["message"].as_str().unwrap_or_default();
        assert_eq!(message.contains("x509: "), !is_known, "{node}: {message}");
        assert_eq!(kubelet.received().is_empty(), !is_known, "{node}: {:?}", kubelet.received());
    }
    target.assert_alive().await;
}
