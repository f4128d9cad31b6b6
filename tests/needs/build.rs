//! Detects the tools that tests need, and passes the reason of each absent tool to `lib.rs`.

mod programs;

use std::ffi::OsStr;
use std::net::UdpSocket;
use std::process::{Command, Stdio};

/// Why a tool cannot be used; empty when it can.
type Absence = &'static str;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=programs.rs");
    println!("cargo::rerun-if-env-changed=PATH");
    let programs = programs::all();
    let tools: [(&str, Absence); 10] = [
        ("cc", unless(runs("cc", &["--version"]), "no C compiler")),
        ("etcd", unless(has_etcd(programs.path("etcd")), "no etcd of 3.4.31, 3.5.13 or newer: name one in $ETCD")),
        ("go", unless(builds_go(), "no Go, or no modules of its programs")),
        ("kubectl", unless(runs("kubectl", &["version", "--client"]), "no kubectl")),
        ("mount", unless(mounts(), "no right to mount a file system")),
        ("network", unless(has_network(), "no address beside loopback")),
        ("node", unless(runs("node", &["--version"]), "no Node.js")),
        ("pytest", unless(runs("python3", &["-m", "pytest", "--version"]), "no pytest for python3")),
        ("python3", unless(runs("python3", &["--version"]), "no Python 3")),
        ("script", unless(runs("script", &["--version"]), "no program `script`")),
    ];
    let mut lines: Vec<String> = tools.iter().map(|(tool, why)| format!("{tool}={why}")).collect();
    lines.extend(programs.absences());
    println!("cargo::rustc-env=TOOLS={}", lines.join("|"));
    println!("cargo::rustc-env=PROGRAMS={}", programs.lines().join("|"));
}

fn unless(present: bool, why: Absence) -> Absence {
    if present { "" } else { why }
}

fn runs(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Whether this etcd reports progress in order with events.
fn has_etcd(program: &OsStr) -> bool {
    let Ok(output) = Command::new(program).arg("--version").stderr(Stdio::null()).output() else { return false };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let Some(version) = text.lines().find_map(|line| line.strip_prefix("etcd Version: ")) else { return false };
    let mut numbers = version.split(['.', '-']).map(|number| number.parse::<u32>().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    match (next(), next(), next()) {
        (3, 4, patch) => patch >= 31,
        (3, 5, patch) => patch >= 13,
        (major, minor, _) => (major, minor) >= (3, 6),
    }
}

/// Whether the sources of the test programs in Go, with all modules they use, can be had.
fn builds_go() -> bool {
    let does = |arguments: &[&str], folder: &str| {
        let mut command = Command::new("go");
        command.args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let is_whole = |folder: &&str| does(&["list", "-deps", "."], folder);
    // The package that the controller imports is written by a test.
    ["../kubelet", "../webhook"].iter().all(is_whole)
        && does(&["mod", "download"], "../../examples/shop/clients/controller")
}

/// Whether this process may mount a file system in memory.
fn mounts() -> bool {
    let Ok(folder) = tempfile::tempdir() else { return false };
    let path = folder.path().display().to_string();
    runs("mount", &["-t", "tmpfs", "-o", "size=1m", "tmpfs", &path]) && runs("umount", &[&path])
}

/// Whether other hosts could reach this one. Connecting a UDP socket sends nothing.
fn has_network() -> bool {
    let address = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
        socket.connect("192.0.2.1:9")?;
        socket.local_addr()
    });
    address.is_ok_and(|address| !address.ip().is_loopback())
}
