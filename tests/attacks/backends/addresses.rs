//! Nodes and pods that claim addresses of the server's own host (CVE-2020-8562, CVE-2022-3294): the proxy must not go there, by an
//! address in whatever form, nor by a name that leads to one.

use reqwest::Method;
use serde_json::json;

use super::{PODS, create_node, create_pod, exchange, first_code, upgrade};
use crate::backend::{Backend, answer};
use crate::support::{ADMIN, MERGE_PATCH, Target};

/// Addresses that are those of this host or of its link, and names that lead to such addresses.
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
    // Forms that the resolver of the C library takes for 127.0.0.1.
    ("Hostname", "127.1"),
    ("Hostname", "2130706433"),
    ("Hostname", "0x7f000001"),
];

/// CVE-2020-8562, CVE-2022-3294.
#[tokio::test]
async fn proxies_lead_to_no_address_of_the_servers_own_host() {
    let (target, host) = (Target::start(&[]), Backend::plain(|_| answer("200 OK", "", "of the host")).await);
    create_node(&target, "one", "127.0.0.1", host.port).await;
    for (kind, address) in CLAIMED {
        let status = json!({"status": {"addresses": [{"type": kind, "address": address}]}}).to_string();
        let patched = target.send(ADMIN, Method::PATCH, "/api/v1/nodes/one/status", MERGE_PATCH, status).await;
        assert!([200, 422].contains(&patched.code), "{address}: {}", patched.body);
        if patched.code == 422 {
            continue;
        }
        // The port of the kubelet, and any other.
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
async fn pods_at_addresses_of_the_servers_own_host_are_not_reached() {
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
