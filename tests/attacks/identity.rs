//! Clients that claim another identity, by expired certificates or by headers that only front
//! proxies may send.

mod front_proxies;
mod loopback;
mod peers;
mod proxied;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::support::Target;
use crate::tls::{Authority, Connection, Dialer, Pair, next_frame};

const MASTERS: &str = "system:masters";
const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// How long the server may take to observe a change.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Lifetime of certificates that expire in a test: long enough for a first request.
const SHORT: Duration = Duration::from_secs(8);
const LONG: Duration = Duration::from_secs(3600);

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn encoded(text: &str) -> String {
    STANDARD.encode(text)
}

/// Sends requests on a connection until the certificate is rejected.
async fn refused(connection: &mut Connection) {
    let begin = Instant::now();
    loop {
        match connection.get(SECRETS, &[]).await.unwrap() {
            401 => return,
            code => assert_eq!(code, 200),
        }
        assert!(begin.elapsed() < TIMEOUT, "the open connection still reads secrets");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Finding A6: a certificate was verified once for a connection, and was accepted after its expiry.
#[tokio::test]
async fn rejects_expired_certificates_on_open_connections() {
    let (folder, authority) = (tempfile::tempdir().unwrap(), Authority::new("clients"));
    let file = write(folder.path(), "clients.crt", &authority.pem);
    let target = Target::start(&[&format!("--client-ca-file={file}")]);
    for is_http2 in [false, true] {
        let pair = authority.issue("root", &[MASTERS], SHORT);
        let mut connection = Dialer::new(&target.server, Some(&pair), is_http2).http().await.unwrap();
        assert_eq!(connection.get(SECRETS, &[]).await.unwrap(), 200);
        // As upstream, an authorized watch continues.
        let watch = match is_http2 {
            true => Some(connection.send(&format!("{MAPS}?watch=1&resourceVersion=0"), &[]).await.unwrap()),
            false => None,
        };
        refused(&mut connection).await;
        if let Some(watch) = watch {
            assert_eq!(watch.status(), 200);
            target.create(MAPS, &json!({"metadata": {"name": "after-the-end"}})).await;
            let (mut body, mut seen) = (watch.into_body(), Vec::new());
            while !String::from_utf8_lossy(&seen).contains("after-the-end") {
                seen.extend_from_slice(&next_frame(&mut body).await.expect("the watch continues").unwrap());
            }
        }
    }
    target.assert_alive().await;
}

/// Finding A6: a connection remained authenticated after its authority was replaced.
#[tokio::test]
async fn rejects_certificates_of_replaced_authorities_on_open_connections() {
    let (folder, old, new) = (tempfile::tempdir().unwrap(), Authority::new("old"), Authority::new("new"));
    let file = write(folder.path(), "clients.crt", &old.pem);
    let target = Target::start(&[&format!("--client-ca-file={file}")]);
    let pair = |authority: &Authority| authority.issue("root", &[MASTERS], LONG);
    let mut connections = Vec::new();
    for is_http2 in [false, true] {
        let mut connection = Dialer::new(&target.server, Some(&pair(&old)), is_http2).http().await.unwrap();
        assert_eq!(connection.get(SECRETS, &[]).await.unwrap(), 200);
        connections.push(connection);
    }
    // This connection is opened before its authority is trusted.
    let mut early = Dialer::new(&target.server, Some(&pair(&new)), true).http().await.unwrap();
    let _ = early.get("/livez", &[]).await;
    fs::write(&file, &new.pem).unwrap();
    for connection in &mut connections {
        refused(connection).await;
    }
    let mut late = Dialer::new(&target.server, Some(&pair(&new)), false).http().await.unwrap();
    assert_eq!(late.get(SECRETS, &[]).await.unwrap(), 200);
    target.assert_alive().await;
}

/// Finding A6, for front proxies: the authority of the proxy's certificate was replaced.
#[tokio::test]
async fn rejects_front_proxies_of_replaced_authorities_on_open_connections() {
    let proxies = FrontProxy::new();
    let target = Target::start(&proxies.flags());
    let mut connection = Dialer::new(&target.server, Some(&proxies.pair), false).http().await.unwrap();
    let headers = [("X-Remote-User", "root"), ("X-Remote-Group", MASTERS)];
    assert_eq!(connection.get(SECRETS, &headers).await.unwrap(), 200);
    fs::write(proxies.folder.path().join("proxies.crt"), &Authority::new("other").pem).unwrap();
    let begin = Instant::now();
    while connection.get(SECRETS, &headers).await.unwrap() != 401 {
        assert!(begin.elapsed() < TIMEOUT, "the open connection of the proxy still reads secrets");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    target.assert_alive().await;
}

/// A front proxy, and flags for servers that read user names from several headers.
struct FrontProxy {
    folder: tempfile::TempDir,
    pair: Pair,
    flags: Vec<String>,
}

impl FrontProxy {
    fn new() -> Self {
        let (folder, authority) = (tempfile::tempdir().unwrap(), Authority::new("proxies"));
        let pair = authority.issue("front-proxy", &[], LONG);
        let file = |flag: &str, name: &str, text: &str| format!("--{flag}={}", write(folder.path(), name, text));
        let flags = vec![
            file("requestheader-client-ca-file", "proxies.crt", &authority.pem),
            file("proxy-client-cert-file", "proxy.crt", &pair.certificate),
            file("proxy-client-key-file", "proxy.key", &pair.key),
            "--requestheader-allowed-names=front-proxy".to_owned(),
            "--requestheader-username-headers=X-User,X-Remote-User".to_owned(),
            "--requestheader-uid-headers=X-Uid,X-Remote-Uid".to_owned(),
            "--requestheader-group-headers=X-Group,X-Remote-Group".to_owned(),
            "--requestheader-extra-headers-prefix=X-Extra-,X-Remote-Extra-".to_owned(),
        ];
        FrontProxy { folder, pair, flags }
    }

    fn flags(&self) -> Vec<&str> {
        self.flags.iter().map(String::as_str).collect()
    }
}

/// Headers by which a client claims the identity of an administrator.
const FORGED: [(&str, &str); 9] = [
    ("X-User", "root"),
    ("x-uid", "0"),
    ("X-GROUP", MASTERS),
    ("X-Extra-Scopes", "forged"),
    ("X-Remote-User", "root"),
    ("X-Remote-Uid", "0"),
    ("X-Remote-Group", MASTERS),
    ("X-Remote-Extra-Scopes", "forged"),
    ("Sec-WebSocket-Protocol", "base64url.bearer.authorization.k8s.io.c2VjcmV0LXRva2Vu"),
];

/// Creates objects as the administrator.
async fn create_all(target: &Target, objects: &[(&str, serde_json::Value)]) {
    for (path, object) in objects {
        target.create(path, object).await;
    }
}
