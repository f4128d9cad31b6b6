//! Recorded conversations of kube-apiserver 1.36.2 get the same responses from this server.
//!
//! The conversations are former differences that `tests/differential` found.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::fs;
use std::path::Path;

use common::Server;
use differential::client::Remote;
use differential::{kubeconfig, replay};

/// Starts a server with the flags and the user of the recordings; returns it with a client.
fn start(folder: &Path) -> (Server, Remote) {
    let tokens = folder.join("tokens.csv");
    fs::write(&tokens, "admintoken,admin,uid-admin,\"system:masters\"\n").unwrap();
    let flags = [
        format!("--token-auth-file={}", tokens.display()),
        "--service-cluster-ip-range=10.0.0.0/24".to_string(),
        "--service-account-issuer=https://kubernetes.default.svc".to_string(),
        "--authorization-mode=RBAC".to_string(),
    ];
    let server = Server::start_with(folder, &flags.each_ref().map(String::as_str));
    let config = format!(
        "{{current-context: c, contexts: [{{name: c, context: {{cluster: c, user: u}}}}], clusters: [{{name: c, cluster: {{server: \
         '{}', insecure-skip-tls-verify: true}}}}], users: [{{name: u, user: {{token: admintoken}}}}]}}",
        server.url
    );
    let file = folder.join("kubeconfig");
    fs::write(&file, config).unwrap();
    let remote = Remote::new(kubeconfig::read(&file).unwrap()).unwrap();
    (server, remote)
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_conversations_match_upstream() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, remote) = start(folder.path());
    let talks = replay::read_folder(Path::new("tests/differential/conversations")).unwrap();
    assert!(!talks.is_empty(), "no conversation was recorded");
    let mut complaints = Vec::new();
    for (at, talk) in talks.iter().enumerate() {
        complaints.extend(replay::replay(&remote, talk, &format!("{at}")).await.unwrap());
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}
