//! Requests that one server of a cluster forwards to another one (suspected with finding A7).

use std::fs;
use std::net::Ipv4Addr;
use std::time::Instant;

use needs::needs;
use reqwest::Method;
use serde_json::{Value, json};

use super::{FORGED, FrontProxy, TIMEOUT};
use crate::common::Server;
use crate::etcd_server::EtcdServer;
use crate::support::{JSON, http_client, token};

const REVIEWS: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// A client that sends front proxy headers does not gain another identity on the peer server.
#[needs(etcd)]
#[tokio::test]
async fn peer_server_ignores_identity_headers_of_clients() {
    let etcd = EtcdServer::start();
    let (proxies, folder) = (FrontProxy::new(), tempfile::tempdir().unwrap());
    let tokens = folder.path().join("tokens.csv");
    fs::write(&tokens, format!("{},mallory,uid-mallory,\"dev\"\n", token("mallory"))).unwrap();
    // The peer's flags must name the port.
    let port = ports::free_port(Ipv4Addr::LOCALHOST);
    let common = [format!("--etcd-servers={}", etcd.url), format!("--token-auth-file={}", tokens.display())];
    let run = |name: &str, flags: &[String]| {
        let all = common.iter().chain(flags).map(String::as_str).chain(proxies.flags()).collect::<Vec<_>>();
        Server::start_with(&folder.path().join(name), &all)
    };
    let whole = run(
        "whole",
        &[
            "--hostname-override=whole".to_owned(),
            format!("--secure-port={port}"),
            "--peer-advertise-ip=127.0.0.1".to_owned(),
            format!("--peer-advertise-port={port}"),
        ],
    );
    let partial = run(
        "partial",
        &[
            "--hostname-override=partial".to_owned(),
            "--advertise-address=10.0.0.2".to_owned(),
            "--runtime-config=authentication.k8s.io/v1=false".to_owned(),
            format!("--peer-ca-file={}", whole.data().join("pki/ca.crt").display()),
        ],
    );
    let client = http_client(&partial).build().unwrap();
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}).to_string();
    let begin = Instant::now();
    let reviewed: Value = loop {
        let mut request = client.request(Method::POST, format!("{}{REVIEWS}", partial.url));
        for (name, value) in FORGED {
            request = request.header(name, value);
        }
        let request = request.bearer_auth(token("mallory")).header("Content-Type", JSON).body(review.clone());
        let response = request.send().await.unwrap();
        let (code, text) = (response.status(), response.text().await.unwrap());
        if code == 201 {
            break serde_json::from_str(&text).unwrap();
        }
        assert!(begin.elapsed() < 2 * TIMEOUT, "{code} {text}");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    };
    let user = json!({"username": "mallory", "uid": "uid-mallory", "groups": ["dev", "system:authenticated"]});
    assert_eq!(reviewed["status"]["userInfo"], user);
}
