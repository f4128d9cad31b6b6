//! Nodes and pods with addresses of the server's own host (CVE-2020-8562, CVE-2022-3294).
//!
//! The proxy must not connect to them: neither by an address in any notation nor by a host name.

use reqwest::Method;
use serde_json::json;

use super::{PODS, create_node, create_pod, exchange, first_code, upgrade};
use crate::backend::{Backend, answer};
use crate::support::{ADMIN, MERGE_PATCH, Target};

/// Addresses of this host or of its link, and host names that resolve to them.
const CLAIMED: [(&str, &str); 15] = [
    ("InternalIP", "127.0.0.1"),
    ("InternalIP", "127.8.9.10"),
    ("InternalIP", "0.0.0.0"),
    ("InternalIP", "::"),
    ("InternalIP", "::1"),
    ("InternalIP", "::ffff:127.0.0.1"),
    ("InternalIP", "169.254.169.254"),
    ("InternalIP", "fe80::1"),
    ("InternalIP", "224.0.0.1"),
    ("ExternalIP", "127.0.0.1"),
    ("Hostname", "localhost"),
    ("InternalDNS", "localhost"),
    // Notations that the resolver of the C library accepts for 127.0.0.1.
    ("Hostname", "127.1"),
    ("Hostname", "2130706433"),
    ("Hostname", "0x7f000001"),
];

/// CVE-2020-8562, CVE-2022-3294.
#[tokio::test]
async fn proxy_rejects_nodes_at_local_addresses() {
    let (target, host) = (Target::start(&[]), Backend::plain(|_| answer("200 OK", "", "of the host")).await);
    create_node(&target, "one", "127.0.0.1", host.port).await;
    for (kind, address) in CLAIMED {
        let status = json!({"status": {"addresses": [{"type": kind, "address": address}]}}).to_string();
        let patched = target.send(ADMIN, Method::PATCH, "/api/v1/nodes/one/status", MERGE_PATCH, status).await;
        assert!([200, 422].contains(&patched.code), "{address}: {}", patched.body);
        if patched.code == 422 {
            continue;
        }
        // The kubelet port, and an arbitrary port.
        for node in ["one".to_owned(), format!("http:one:{}", host.port), format!("https:one:{}", host.port)] {
            let path = format!("/api/v1/nodes/{node}/proxy/x");
            let answered = target.get(ADMIN, &path).await;
            assert_eq!(answered.code, 400, "{address} {path}: {}", answered.body);
            assert!(answered.body["message"].as_str().unwrap().contains("address not allowed"), "{}", answered.body);
            let answered = exchange(&target, &upgrade("GET", &path, "websocket"), "", true).await;
            assert_eq!(first_code(&answered), 400, "{address} {path}: {answered}");
        }
    }
    assert!(host.received().is_empty(), "{:?}", host.received());
    target.assert_alive().await;
}

/// CVE-2020-8562, for pods.
#[tokio::test]
async fn proxy_rejects_pods_at_local_addresses() {
    let (target, host) = (Target::start(&[]), Backend::plain(|_| answer("200 OK", "", "of the host")).await);
    target.create_default_account().await;
    create_node(&target, "one", "127.0.0.1", 1).await;
    create_pod(&target, "web", "one").await;
    for (_, ip) in CLAIMED.iter().filter(|(kind, _)| *kind == "InternalIP") {
        let status = json!({"status": {"podIP": ip, "podIPs": [{"ip": ip}]}}).to_string();
        let patched = target.send(ADMIN, Method::PATCH, &format!("{PODS}/web/status"), MERGE_PATCH, status).await;
        assert!([200, 422].contains(&patched.code), "{ip}: {}", patched.body);
        let path = format!("{PODS}/web:{}/proxy/x", host.port);
        let answered = target.get(ADMIN, &path).await;
        assert_eq!(answered.code, 400, "{ip}: {}", answered.body);
        let answered = exchange(&target, &upgrade("GET", &path, "websocket"), "", true).await;
        assert_eq!(first_code(&answered), 400, "{ip}: {answered}");
    }
    assert!(host.received().is_empty(), "{:?}", host.received());
    target.assert_alive().await;
}
