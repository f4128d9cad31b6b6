//! A real etcd process per test, on free ports, with a temporary data directory.

#![allow(dead_code, reason = "each test program uses a part")]

use std::{
    ffi::OsString,
    io::{Read, Write},
    net::{Ipv4Addr, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
};

use ports::free_port;
use tempfile::TempDir;

/// A member of a cluster; dropping it kills the process.
pub struct EtcdServer {
    process: Child,
    arguments: Vec<OsString>,
    /// The client URL.
    pub url: String,
    folder: TempDir,
}

impl EtcdServer {
    /// Starts an etcd. Its tests have the attribute `#[needs(etcd)]`.
    pub fn start() -> Self {
        Self::start_with("http", &[])
    }

    /// Starts an etcd that serves `http` or `https`, with further arguments.
    pub fn start_with(scheme: &str, more: &[OsString]) -> Self {
        Self::members(1, scheme, more).remove(0)
    }

    /// Starts a cluster.
    pub fn cluster(size: usize) -> Vec<Self> {
        Self::members(size, "http", &[])
    }

    fn members(size: usize, scheme: &str, more: &[OsString]) -> Vec<Self> {
        let ports: Vec<_> =
            (0..size).map(|_| (free_port(Ipv4Addr::LOCALHOST), free_port(Ipv4Addr::LOCALHOST))).collect();
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
                // The minimum TTL of a lease is the election timeout.
                "--heartbeat-interval=50".into(),
                "--election-timeout=500".into(),
                // Tests kill the process and not the machine, so fsync is not needed
                // and a busy disk delays no test.
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

    /// Ends the server with `kill -9`, as a power cut would.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Restarts a killed server with its data.
    pub fn restart(&mut self) {
        self.process = run(&self.arguments);
    }

    /// Posts a request to etcd's JSON gateway, to read its contents without the client under test.
    pub fn post(&self, path: &str, body: &str) -> String {
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

/// Runs the etcd that was found when the test was built.
fn run(arguments: &[OsString]) -> Child {
    Command::new(needs::program!(etcd)).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

impl Drop for EtcdServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
