//! An etcd of its own for each test: a real server process on free ports, in a folder that goes away with it.

#![allow(dead_code, reason = "each test program uses a part")]

use std::{
    ffi::OsString,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

/// A member of a cluster; it is killed when this is dropped.
pub struct EtcdServer {
    process: Child,
    arguments: Vec<OsString>,
    /// Where clients reach it.
    pub url: String,
    folder: TempDir,
}

/// The program: `$ETCD`, or `etcd` in the path, if it is one that tells progress in its place among events.
fn program() -> Option<OsString> {
    let program = std::env::var_os("ETCD").unwrap_or_else(|| "etcd".into());
    let said = Command::new(&program).arg("--version").stderr(Stdio::null()).output();
    let said = said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let version = said.lines().find_map(|line| line.strip_prefix("etcd Version: "));
    if version.is_some_and(is_supported) {
        return Some(program);
    }
    let found = version.unwrap_or("none");
    eprintln!(
        "no etcd of 3.4.31, 3.5.13 or newer here ({found}): put it into the path or name it in $ETCD; this test is passed over"
    );
    None
}

fn is_supported(version: &str) -> bool {
    let mut numbers = version.split(['.', '-']).map(|number| number.parse::<u32>().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    match (next(), next(), next()) {
        (3, 4, patch) => patch >= 31,
        (3, 5, patch) => patch >= 13,
        (major, minor, _) => (major, minor) >= (3, 6),
    }
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl EtcdServer {
    /// Starts an etcd, if there is one on this machine.
    pub fn start() -> Option<Self> {
        Self::start_with("http", &[])
    }

    /// Starts an etcd that serves by `http` or `https`, with further arguments.
    pub fn start_with(scheme: &str, more: &[OsString]) -> Option<Self> {
        program().map(|_| Self::members(1, scheme, more).remove(0))
    }

    /// Starts a cluster, if there is an etcd on this machine.
    pub fn cluster(size: usize) -> Option<Vec<Self>> {
        program().map(|_| Self::members(size, "http", &[]))
    }

    fn members(size: usize, scheme: &str, more: &[OsString]) -> Vec<Self> {
        let ports: Vec<_> = (0..size).map(|_| (free_port(), free_port())).collect();
        let cluster: Vec<_> =
            ports.iter().enumerate().map(|(i, (_, peer))| format!("m{i}=http://127.0.0.1:{peer}")).collect();
        let member = |(i, (client, peer)): (usize, &(u16, u16))| {
            let url = format!("{scheme}://127.0.0.1:{client}");
            let mut arguments: Vec<OsString> = [
                format!("--name=m{i}"),
                format!("--listen-client-urls={url}"),
                format!("--advertise-client-urls={url}"),
                format!("--listen-peer-urls=http://127.0.0.1:{peer}"),
                format!("--initial-advertise-peer-urls=http://127.0.0.1:{peer}"),
                format!("--initial-cluster={}", cluster.join(",")),
                // Leases can be no shorter than an election takes.
                "--heartbeat-interval=50".into(),
                "--election-timeout=500".into(),
                // What is killed here is a process, which loses nothing that it has written: no test waits for a busy disk.
                "--unsafe-no-fsync".into(),
                "--log-level=error".into(),
            ]
            .map(Into::into)
            .into();
            arguments.extend_from_slice(more);
            Self::spawn(arguments, url)
        };
        ports.iter().enumerate().map(member).collect()
    }

    fn spawn(mut arguments: Vec<OsString>, url: String) -> Self {
        let folder = tempfile::tempdir().unwrap();
        arguments.push(format!("--data-dir={}", folder.path().display()).into());
        let process = run(&arguments);
        Self { process, arguments, url, folder }
    }

    /// Ends the server as a power cut would: `kill -9`.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Starts a killed server on what it left.
    pub fn restart(&mut self) {
        self.process = run(&self.arguments);
    }

    /// Asks etcd's JSON gateway: what stands there as others see it.
    pub fn ask(&self, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(self.url.trim_start_matches("http://")).unwrap();
        let length = body.len();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: etcd\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

fn run(arguments: &[OsString]) -> Child {
    let program = std::env::var_os("ETCD").unwrap_or_else(|| "etcd".into());
    Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

impl Drop for EtcdServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
