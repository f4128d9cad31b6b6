//! Backends that refuse to switch protocols (CVE-2018-1002105): later bytes of the client must not
//! reach them.

use needs::needs;

use super::{
    CODES, PODS, availability, create_node, create_pod, exchange, first_code, register, requested_code, upgrade,
};
use crate::backend::{Backend, answer};
use crate::common::own_address;
use crate::support::Target;

/// The request that the attacker smuggles to the backend with the server's identity.
const SMUGGLED: &str = "GET /smuggled HTTP/1.1\r\nHost: back\r\nX-Remote-User: root\r\n\
    X-Remote-Group: system:masters\r\nContent-Length: 0\r\n\r\n";

/// Responds with the code in the path and keeps the connection open; serves regular discovery
/// documents.
fn refuse(head: &str) -> String {
    match requested_code(head) {
        Some(code) => answer(&format!("{code} Code"), "Content-Type: text/plain\r\n", "no"),
        None => answer("200 OK", "Content-Type: application/json\r\n", "{}"),
    }
}

/// Sends an upgrade and the smuggled request; fails when the latter reaches the backend.
async fn attack(target: &Target, backend: &Backend, method: &str, path: &str, protocol: &str, code: u16) {
    for is_pipelined in [true, false] {
        let answered = exchange(target, &upgrade(method, path, protocol), SMUGGLED, is_pipelined).await;
        // The backend's response is forwarded or replaced by an error, and is never a success. A
        // connection closed with unread client bytes is reset, which can drop the response.
        let is_lost = is_pipelined && answered.is_empty();
        assert!(is_lost || first_code(&answered) >= 400, "{path} with {code}: {answered}");
        let received = backend.received();
        assert!(received.iter().any(|text| text.contains(&format!("code-{code}"))), "{path}: {received:#?}");
        assert!(!received.iter().any(|text| text.contains("smuggled")), "{path}: {received:#?}");
    }
}

/// CVE-2018-1002105, with aggregated servers.
#[tokio::test]
async fn refused_upgrade_to_aggregated_server_closes_connection() {
    let (target, backend) = (Target::start(&[]), Backend::start(&["back.default.svc"], refuse).await);
    register(&target, "back", backend.port, &backend.certificate).await;
    assert!(availability(&target).await);
    for code in CODES {
        for (method, protocol) in [("GET", "websocket"), ("POST", "SPDY/3.1"), ("GET", "anything")] {
            let path = format!("/apis/shop.example.com/v1/things/code-{code}");
            attack(&target, &backend, method, &path, protocol, code).await;
        }
    }
    target.assert_alive().await;
}

/// CVE-2018-1002105, with kubelets.
#[tokio::test]
async fn refused_upgrade_to_kubelet_closes_connection() {
    let (target, kubelet) = (Target::start(&[]), Backend::start(&["localhost"], refuse).await);
    target.create_default_account().await;
    create_node(&target, "one", "127.0.0.1", kubelet.port).await;
    for code in CODES {
        let pod = format!("code-{code}");
        create_pod(&target, &pod, "one").await;
        for subresource in ["exec?command=sh&stdout=true", "attach?stdout=true", "portforward?ports=80"] {
            attack(&target, &kubelet, "POST", &format!("{PODS}/{pod}/{subresource}"), "SPDY/3.1", code).await;
        }
    }
    target.assert_alive().await;
}

/// CVE-2018-1002105, with the proxy to nodes and pods.
#[needs(network)]
#[tokio::test]
async fn refused_upgrade_through_proxy_closes_connection() {
    let (target, backend, ip) = (Target::start(&[]), Backend::start(&["localhost"], refuse).await, own_address());
    target.create_default_account().await;
    create_node(&target, "one", &ip, backend.port).await;
    create_pod(&target, "web", "one").await;
    let running = serde_json::json!({"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}]});
    target.set_status(&format!("{PODS}/web"), running).await;
    for code in CODES {
        for proxy in ["/api/v1/nodes/one/proxy".to_owned(), format!("{PODS}/https:web:{}/proxy", backend.port)] {
            attack(&target, &backend, "GET", &format!("{proxy}/code-{code}"), "websocket", code).await;
        }
    }
    target.assert_alive().await;
}
