//! `kube-apiserver probe` and `kube-apiserver kubeconfig`, which use the administrator's kubeconfig
//! in the data directory, and the notifications of systemd.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::ffi::OsStr;
use std::os::unix::net::UnixDatagram;
use std::process::Command;
use std::time::Duration;

use common::{Outcome, PROGRAM, Server};

fn run(words: &[&str]) -> Outcome {
    common::run(Command::new(PROGRAM).args(words), b"")
}

#[test]
fn probe_reports_state_of_the_running_server() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_in(folder.path());
    let data = format!("--data-dir={}", server.data().display());

    let ready = run(&["probe", &data]);
    assert!(ready.ok, "{}", ready.stderr);
    assert_eq!(ready.stdout, "ok\n");
    let version = run(&["probe", &data, "--path", "/version"]);
    assert!(version.stdout.contains("\"gitVersion\""), "{}", version.stdout);
    let absent = run(&["probe", "--path=/absent", &data]);
    assert!(!absent.ok);
    assert!(absent.stderr.starts_with("error: /absent: 404 Not Found\n"), "{}", absent.stderr);

    assert!(server.stop());
    let stopped = run(&["probe", &data]);
    assert!(!stopped.ok, "{}", stopped.stdout);
    assert!(stopped.stderr.contains("connection refused"), "{}", stopped.stderr);
}

#[test]
fn kubeconfig_is_printed_with_another_address() {
    let folder = tempfile::tempdir().unwrap();
    let absent = run(&["kubeconfig", &format!("--data-dir={}", folder.path().display())]);
    assert!(!absent.ok);
    assert!(absent.stderr.contains("a server with this --data-dir writes the file at its start"), "{}", absent.stderr);

    let server = Server::start_in(folder.path());
    let data = format!("--data-dir={}", server.data().display());
    let same = run(&["kubeconfig", &data]);
    assert_eq!(same.stdout, std::fs::read_to_string(server.kubeconfig()).unwrap());
    let other = run(&["kubeconfig", &data, "--server=https://api.example.com"]);
    let line = format!("    server: {}\n", server.url);
    assert_eq!(other.stdout, same.stdout.replace(&line, "    server: \"https://api.example.com\"\n"));
    assert_ne!(other.stdout, same.stdout);
}

/// Waits for a notification.
fn expect(socket: &UnixDatagram, state: &str) {
    let mut received = [0; 64];
    let length = socket.recv(&mut received).unwrap_or_else(|error| panic!("no {state}: {error}"));
    assert_eq!(String::from_utf8_lossy(&received[..length]).trim_end(), state);
}

#[test]
fn systemd_is_notified_of_start_progress_and_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let environment = [("NOTIFY_SOCKET", path.as_os_str()), ("WATCHDOG_USEC", OsStr::new("1000000"))];
    let server = Server::start_in_environment(folder.path(), &[], &environment);
    expect(&socket, "READY=1");
    expect(&socket, "WATCHDOG=1");
    expect(&socket, "WATCHDOG=1");
    assert!(server.stop());
    let mut state = String::new();
    while state != "STOPPING=1" {
        let mut received = [0; 64];
        let length = socket.recv(&mut received).unwrap();
        state = String::from_utf8_lossy(&received[..length]).trim_end().to_owned();
    }
}
