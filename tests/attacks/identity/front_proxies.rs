//! Clients that send front proxy headers, where clients and proxies have certificates of one
//! authority (NCC 2022 F9W).

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{LONG, MASTERS, SECRETS, TIMEOUT, write};
use crate::common::program;
use crate::support::Target;
use crate::tls::{Authority, Dialer};

/// Returns the start-up error for these flags; fails when the server keeps running.
fn refusal(flags: &[String]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut server = Command::new(program())
        .args(["--secure-port=0", "--bind-address=127.0.0.1"])
        .arg(format!("--data-dir={}", folder.path().join("data").display()))
        .args(flags)
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    let status = loop {
        match server.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if begin.elapsed() > TIMEOUT => break None,
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    if status.is_none() {
        server.kill().unwrap();
        server.wait().unwrap();
    }
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(status.is_some_and(|status| !status.success()), "the server keeps running: {text}");
    text
}

/// NCC 2022 F9W: with a shared authority, the proxy names are required, even when the files hold
/// further authorities.
#[test]
fn shared_authority_requires_proxy_names() {
    let folder = tempfile::tempdir().unwrap();
    let (shared, other) = (Authority::new("shared"), Authority::new("other"));
    let clients = write(folder.path(), "clients.crt", &format!("{}{}", other.pem, shared.pem));
    let both = write(folder.path(), "both.crt", &format!("{}{}", Authority::new("third").pem, shared.pem));
    for proxies in [&clients, &both] {
        let text = refusal(&[
            format!("--client-ca-file={clients}"),
            format!("--requestheader-client-ca-file={proxies}"),
            "--requestheader-username-headers=X-Remote-User".to_owned(),
        ]);
        assert!(text.contains("--requestheader-allowed-names must be specified"), "{text}");
    }
}

/// NCC 2022 F9W: with proxy names, any other client of the authority is the user of its certificate
/// or anonymous.
#[tokio::test]
async fn clients_of_shared_authority_are_not_proxies() {
    let (folder, shared) = (tempfile::tempdir().unwrap(), Authority::new("shared"));
    let file = write(folder.path(), "shared.crt", &shared.pem);
    let target = Target::start(&[
        &format!("--client-ca-file={file}"),
        &format!("--requestheader-client-ca-file={file}"),
        "--requestheader-allowed-names=proxy",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
    ]);
    let forged = [("X-Remote-User", "root"), ("X-Remote-Group", MASTERS)];
    // The last two names resemble the name of the proxy.
    for (name, may) in [("proxy", true), ("jane", false), ("Proxy", false), ("proxy,jane", false)] {
        let pair = shared.issue(name, &[], LONG);
        for is_http2 in [false, true] {
            let mut connection = Dialer::new(&target.server, Some(&pair), is_http2).http().await.unwrap();
            let code = connection.get(SECRETS, &forged).await.unwrap();
            assert_eq!(code == 200, may, "{name}: {code}");
        }
    }
    target.assert_alive().await;
}
