//! Attacks by backends: aggregated servers, kubelets and webhooks.
//!
//! They redirect the server, keep connections open for later requests, or present another server's
//! certificate.

mod addresses;
mod certificates;
mod redirects;
mod upgrades;

use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{ADMIN, Target, token};
use crate::tls::Dialer;

/// How long the server may take to observe a change or to close a connection.
const TIMEOUT: Duration = Duration::from_secs(60);
const PODS: &str = "/api/v1/namespaces/default/pods";
const API: &str = "/apis/apiregistration.k8s.io/v1/apiservices/v1.shop.example.com";
/// Status codes of a backend that does not switch protocols.
const CODES: [u16; 6] = [200, 302, 307, 400, 403, 500];

/// Registers `shop.example.com/v1` as an APIService whose service resolves to loopback.
async fn register(target: &Target, service: &str, port: u16, authority: &str) {
    let back = json!({"metadata": {"name": service}, "spec": {"type": "ExternalName", "externalName": "localhost"}});
    target.create("/api/v1/namespaces/default/services", &back).await;
    let spec = json!({"group": "shop.example.com", "version": "v1", "groupPriorityMinimum": 1000,
        "versionPriority": 15, "service": {"name": service, "namespace": "default", "port": port},
        "caBundle": STANDARD.encode(authority)});
    let api = json!({"metadata": {"name": "v1.shop.example.com"}, "spec": spec});
    target.create("/apis/apiregistration.k8s.io/v1/apiservices", &api).await;
}

/// Waits until the condition `Available` has been computed; returns whether it is true.
async fn availability(target: &Target) -> bool {
    let begin = Instant::now();
    loop {
        let api = target.get(ADMIN, API).await.body;
        let of = |status: &str| {
            let conditions = api["status"]["conditions"].as_array().into_iter().flatten();
            conditions.filter(|condition| condition["type"] == "Available").any(|c| c["status"] == status)
        };
        // The message differs before and after the first probe of the aggregated server.
        if of("True") {
            return true;
        }
        if of("False") && api.to_string().contains("FailedDiscoveryCheck") {
            return false;
        }
        assert!(begin.elapsed() < TIMEOUT, "{api}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Creates a node whose kubelet listens at an address.
async fn create_node(target: &Target, name: &str, address: &str, port: u16) {
    target.create("/api/v1/nodes", &json!({"metadata": {"name": name}})).await;
    let addresses = json!([{"type": "InternalIP", "address": address}]);
    let status = json!({"addresses": addresses, "daemonEndpoints": {"kubeletEndpoint": {"Port": port}}});
    target.set_status(&format!("/api/v1/nodes/{name}"), status).await;
}

/// Creates a pod that is bound to a node.
async fn create_pod(target: &Target, name: &str, node: &str) {
    let spec = json!({"nodeName": node, "automountServiceAccountToken": false,
        "containers": [{"name": "main", "image": "nginx"}]});
    target.create(PODS, &json!({"metadata": {"name": name}, "spec": spec})).await;
    target.set_status(&format!("{PODS}/{name}"), json!({"phase": "Running"})).await;
}

/// Parses the number after `code-` in the request line: the status code that a backend returns.
fn requested_code(head: &str) -> Option<u16> {
    let (_, rest) = head.lines().next()?.split_once("code-")?;
    rest.get(..3)?.parse().ok()
}

/// Returns the head of an upgrade request by the administrator.
fn upgrade(method: &str, path: &str, protocol: &str) -> String {
    let version = match protocol {
        "SPDY/3.1" => "X-Stream-Protocol-Version: v4.channel.k8s.io\r\n",
        _ => "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
    };
    let token = token(ADMIN);
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: Upgrade\r\n\
         Upgrade: {protocol}\r\n{version}Content-Length: 0\r\n\r\n"
    )
}

/// Sends a request and then further bytes on one connection: pipelined, or after the first
/// response.
///
/// Returns everything received until both sides closed the connection.
async fn exchange(target: &Target, request: &str, rest: &str, is_pipelined: bool) -> String {
    let mut stream = Dialer::new(&target.server, None, false).tls().await.unwrap();
    let mut received = Vec::new();
    let talk = async {
        let first = if is_pipelined { format!("{request}{rest}") } else { request.to_owned() };
        stream.write_all(first.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        while !received.windows(4).any(|end| end == b"\r\n\r\n") {
            if stream.read_buf(&mut received).await.unwrap_or(0) == 0 {
                return;
            }
        }
        // The server may already have closed the connection.
        if !is_pipelined {
            let _ = stream.write_all(rest.as_bytes()).await;
        }
        let _ = stream.shutdown().await;
        let _ = stream.read_to_end(&mut received).await;
    };
    tokio::time::timeout(TIMEOUT, talk).await.expect("the server closes the connection");
    String::from_utf8_lossy(&received).into_owned()
}

/// Returns the status code of the first response.
fn first_code(text: &str) -> u16 {
    text.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_default()
}
