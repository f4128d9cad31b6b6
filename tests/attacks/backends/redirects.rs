//! Backends that answer with a redirect to another server.
//!
//! The server must not follow it (CVE-2018-1002102, CVE-2020-8559). Redirects of an aggregated
//! server must not reach clients (CVE-2022-3172).

use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use needs::needs;
use reqwest::Method;
use serde_json::json;

use super::{
    PODS, TIMEOUT, availability, create_node, create_pod, exchange, first_code, register, requested_code, upgrade,
};
use crate::backend::{Backend, answer};
use crate::common::own_address;
use crate::support::{ADMIN, JSON, Target};

const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];

/// Starts the server that must receive no request.
async fn trap() -> Backend {
    Backend::start(&["localhost", "127.0.0.1"], |_| answer("200 OK", "", "trapped")).await
}

/// Starts a backend that redirects to the trap when the path requests a redirect.
async fn redirecting_backend(trap: &Backend, names: &[&str]) -> Backend {
    let location = format!("Location: https://127.0.0.1:{}/elsewhere\r\n", trap.port);
    let redirect = move |head: &str| match requested_code(head) {
        Some(code) => answer(&format!("{code} Moved"), &location, ""),
        None => answer("200 OK", "Content-Type: application/json\r\n", "{}"),
    };
    Backend::start(names, redirect).await
}

fn assert_untouched(trap: &Backend, what: &str) {
    assert!(trap.received().is_empty(), "{what} led to {:?}", trap.received());
}

/// CVE-2022-3172; CVE-2020-8559 for upgrades.
#[tokio::test]
async fn redirects_of_aggregated_servers_are_not_forwarded() {
    let (target, trap) = (Target::start(&[]), trap().await);
    let backend = redirecting_backend(&trap, &["back.default.svc"]).await;
    register(&target, "back", backend.port, &backend.certificate).await;
    assert!(availability(&target).await);
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let authority = std::fs::read(target.server.data().join("pki/ca.crt")).unwrap();
    let client = client.add_root_certificate(reqwest::Certificate::from_pem(&authority).unwrap()).build().unwrap();
    for code in REDIRECTS {
        let path = format!("/apis/shop.example.com/v1/things/code-{code}");
        for method in [Method::GET, Method::POST, Method::DELETE] {
            let request = client.request(method.clone(), format!("{}{path}", target.server.url));
            let answered = request.bearer_auth(crate::support::token(ADMIN)).send().await.unwrap();
            assert_eq!(answered.status(), 502, "{method} {path}");
            assert!(answered.headers().get("location").is_none(), "{method} {path}");
        }
        let answered = exchange(&target, &upgrade("GET", &path, "websocket"), "", true).await;
        assert!(first_code(&answered) >= 400 && !answered.contains(&trap.port.to_string()), "{path}: {answered}");
        assert_untouched(&trap, &path);
    }
    target.assert_alive().await;
}

/// CVE-2018-1002102, CVE-2020-8559.
#[tokio::test]
async fn redirects_of_kubelets_are_not_followed() {
    let (target, trap) = (Target::start(&[]), trap().await);
    let kubelet = redirecting_backend(&trap, &["localhost"]).await;
    target.create_default_account().await;
    create_node(&target, "one", "127.0.0.1", kubelet.port).await;
    for code in REDIRECTS {
        let pod = format!("code-{code}");
        create_pod(&target, &pod, "one").await;
        for subresource in ["exec?command=sh&stdout=true", "attach?stdout=true", "portforward?ports=80"] {
            let path = format!("{PODS}/{pod}/{subresource}");
            let answered = exchange(&target, &upgrade("POST", &path, "SPDY/3.1"), "", true).await;
            assert!(first_code(&answered) >= 400 && !answered.contains(&trap.port.to_string()), "{path}: {answered}");
            assert_untouched(&trap, &path);
        }
        let logs = target.get(ADMIN, &format!("{PODS}/{pod}/log")).await;
        assert!(logs.code >= 400, "{} {}", logs.code, logs.body);
        assert_untouched(&trap, "a log");
    }
    target.assert_alive().await;
}

/// CVE-2018-1002102, CVE-2020-8559, for the proxy to nodes: the client receives the redirect at
/// most.
#[needs(network)]
#[tokio::test]
async fn redirects_of_nodes_are_not_followed() {
    let (target, trap) = (Target::start(&[]), trap().await);
    let kubelet = redirecting_backend(&trap, &["localhost"]).await;
    create_node(&target, "one", &own_address(), kubelet.port).await;
    for code in REDIRECTS {
        let path = format!("/api/v1/nodes/one/proxy/code-{code}");
        let plain = format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\r\n",
            crate::support::token(ADMIN)
        );
        let answered = exchange(&target, &plain, "", true).await;
        assert_eq!(first_code(&answered), code, "{path}: {answered}");
        let answered = exchange(&target, &upgrade("GET", &path, "websocket"), "", true).await;
        assert!(first_code(&answered) >= 400, "{path}: {answered}");
        assert_untouched(&trap, &path);
    }
    target.assert_alive().await;
}

/// CVE-2018-1002102, for webhooks: the reviewed object is sent only to the webhook.
#[tokio::test]
async fn redirects_of_webhooks_are_not_followed() {
    let (target, trap) = (Target::start(&[]), trap().await);
    let webhook = redirecting_backend(&trap, &["localhost"]).await;
    let maps = "/api/v1/namespaces/default/configmaps";
    for code in REDIRECTS {
        let config = json!({"metadata": {"name": format!("hook-{code}")}, "webhooks": [{
            "name": "hook.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "objectSelector": {"matchLabels": {"code": code.to_string()}},
            "clientConfig": {"url": format!("https://localhost:{}/code-{code}", webhook.port),
                "caBundle": STANDARD.encode(&webhook.certificate)},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}],
        }]});
        target.create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", &config).await;
        let (begin, request_path) = (Instant::now(), format!("/code-{code}"));
        for number in 0.. {
            let metadata = json!({"name": format!("map-{code}-{number}"), "labels": {"code": code.to_string()}});
            let map = json!({"metadata": metadata}).to_string();
            let created = target.send(ADMIN, Method::POST, maps, JSON, map).await;
            let was_called = webhook.received().iter().any(|text| text.contains(&request_path));
            // The plugin learns of configurations by a watch.
            if was_called {
                assert_eq!(created.code, 500, "{}", created.body);
                break;
            }
            assert!(begin.elapsed() < TIMEOUT, "the webhook is not called");
        }
        assert_untouched(&trap, &request_path);
    }
    target.assert_alive().await;
}
