//! Clients that send the headers of front proxies, where both have certificates of one authority (NCC 2022 F9W).

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{LONG, MASTERS, PATIENCE, SECRETS, write};
use crate::common::program;
use crate::support::Target;
use crate::tls::{Authority, Dialer};

/// What the server says when it refuses to start with these flags; fails when it goes on running.
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
            None if begin.elapsed() > PATIENCE => break None,
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    if status.is_none() {
        server.kill().unwrap();
        server.wait().unwrap();
    }
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(status.is_some_and(|status| !status.success()), "the server goes on running: {text}");
    text
}

/// NCC 2022 F9W: with an authority in common, proxies have to be named, also where the files hold other authorities besides.
#[test]
fn an_authority_of_clients_and_proxies_needs_names_of_proxies() {
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

/// NCC 2022 F9W: where proxies are named, any other client of the authority is the user of its certificate or
/// anonymous.
#[tokio::test]
async fn clients_of_the_authority_of_proxies_are_no_proxies() {
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
