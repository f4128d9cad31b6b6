//! kube-apiserver and this server on one etcd.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api::{Api, TOKEN};
use crate::common::Server;
use crate::etcd_server::EtcdServer;

/// Maximum time until a server is ready, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(180);
/// Servers of a cluster have one port at several addresses, since the `kubernetes` service has one
/// target port.
const OURS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const THEIRS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);
/// Maximum time for kube-apiserver to stop without a kill.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);
/// Number of log lines of kube-apiserver in a failure message.
const LOG_LINES: usize = 20;

/// The servers and their store.
pub struct Pair {
    ours: Option<Server>,
    theirs: Option<Upstream>,
    pub etcd: EtcdServer,
    port: u16,
    folder: TempDir,
    /// The address of this project's server.
    address: Ipv4Addr,
}

impl Pair {
    /// Starts etcd, and no server.
    pub fn new() -> Pair {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("tokens.csv"), format!("{TOKEN},admin,uid-admin,\"system:masters\"\n")).unwrap();
        let key = rcgen::KeyPair::generate().unwrap();
        fs::write(folder.path().join("sa.key"), key.serialize_pem()).unwrap();
        fs::write(folder.path().join("sa.pub"), key.public_key_pem()).unwrap();
        let port = ports::free_port(THEIRS);
        Pair { ours: None, theirs: None, etcd: EtcdServer::start(), port, folder, address: OURS }
    }

    /// As `new`, with one address for both servers, of which only one runs at a time: clients find
    /// either at the same address.
    pub fn at_one_address() -> Pair {
        Pair { address: THEIRS, ..Pair::new() }
    }

    /// Returns the path of a temporary file.
    pub fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Returns the flags of both servers.
    fn common(&self) -> Vec<String> {
        vec![
            format!("--etcd-servers={}", self.etcd.url),
            format!("--secure-port={}", self.port),
            format!("--token-auth-file={}", self.file("tokens.csv")),
            "--service-account-issuer=https://kubernetes.default.svc".into(),
            format!("--service-account-key-file={}", self.file("sa.pub")),
            format!("--service-account-signing-key-file={}", self.file("sa.key")),
            "--service-cluster-ip-range=10.0.0.0/24".into(),
            "--service-node-port-range=30000-30127".into(),
            "--authorization-mode=Node,RBAC".into(),
        ]
    }

    /// Starts this project's server, and waits until it is ready.
    pub async fn start_ours(&mut self) -> Api {
        let mut flags = self.common();
        flags.extend([
            format!("--bind-address={}", self.address),
            "--advertise-address=10.9.0.2".into(),
            "--hostname-override=ours".into(),
        ]);
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        self.ours = Some(Server::start_with(&self.folder.path().join("ours"), &flags));
        let api = self.ours();
        ready(&api, || None).await;
        api
    }

    /// Starts kube-apiserver, and waits until it is ready.
    pub async fn start_theirs(&mut self) -> Api {
        let mut flags = self.common();
        let certificates = self.file("certificates");
        flags.extend([
            format!("--bind-address={THEIRS}"),
            "--advertise-address=10.9.0.3".into(),
            format!("--cert-dir={certificates}"),
        ]);
        self.theirs = Some(Upstream::start(&flags, &self.folder.path().join("upstream.log")));
        let api = self.theirs();
        let upstream = self.theirs.as_mut().unwrap();
        ready(&api, || upstream.process.try_wait().unwrap()).await;
        api
    }

    pub fn ours(&self) -> Api {
        Api::new("ours", &format!("https://{}:{}", self.address, self.port))
    }

    pub fn theirs(&self) -> Api {
        Api::new("upstream", &format!("https://{THEIRS}:{}", self.port))
    }

    /// Sends a request to etcd's JSON gateway.
    pub async fn post_etcd(&self, verb: &str, body: &Value) -> Value {
        let request = reqwest::Client::new().post(format!("{}/v3/kv/{verb}", self.etcd.url)).body(body.to_string());
        serde_json::from_str(&request.send().await.unwrap().text().await.unwrap()).unwrap()
    }

    /// Writes a value into etcd, bypassing the servers.
    pub async fn etcd_put(&self, key: &str, value: &str) {
        self.post_etcd("put", &json!({"key": STANDARD.encode(key), "value": STANDARD.encode(value)})).await;
    }

    /// Stops this project's server with SIGTERM, and waits for its end.
    pub fn stop_ours(&mut self) {
        assert!(self.ours.take().unwrap().stop(), "the server exited with success");
    }

    /// Stops kube-apiserver with SIGTERM, and waits for its end.
    pub fn stop_theirs(&mut self) {
        self.theirs.take().unwrap().stop();
    }
}

/// Waits until a server is ready.
async fn ready(api: &Api, mut ended: impl FnMut() -> Option<std::process::ExitStatus>) {
    let begin = Instant::now();
    while !api.is_ready().await {
        if let Some(status) = ended() {
            panic!("{} ended: {status}", api.name);
        }
        assert!(begin.elapsed() < TIMEOUT, "{} is not ready", api.name);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// A running kube-apiserver; it is killed on drop.
struct Upstream {
    process: Child,
    log: PathBuf,
}

impl Upstream {
    fn start(flags: &[String], log: &Path) -> Upstream {
        // The name of the program becomes the name of its field manager.
        let program = log.with_file_name("kube-apiserver");
        if !program.exists() {
            std::os::unix::fs::symlink(needs::program!(kube_apiserver), &program).unwrap();
        }
        let mut command = Command::new(program);
        command.args(flags).stdin(Stdio::null()).stdout(Stdio::null()).stderr(fs::File::create(log).unwrap());
        Upstream { process: command.spawn().unwrap(), log: log.to_owned() }
    }

    fn stop(mut self) {
        kill_process(Pid::from_child(&self.process), Signal::TERM).unwrap();
        // After it has removed its endpoint, it waits up to a minute for open client connections.
        let begin = Instant::now();
        while begin.elapsed() < STOP_TIMEOUT && self.process.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if std::thread::panicking() {
            let log = fs::read_to_string(&self.log).unwrap_or_default();
            let lines: Vec<&str> = log.lines().filter(|line| line.starts_with('E')).collect();
            eprintln!("upstream's last log lines:\n{}", lines[lines.len().saturating_sub(LOG_LINES)..].join("\n"));
        }
    }
}
