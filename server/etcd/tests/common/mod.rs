//! A served store in this process, a real etcd, and calls with messages as they are.

#![allow(dead_code, reason = "each test program uses a part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::{
    ffi::OsString,
    net::Ipv4Addr,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use etcd_server::{EtcdServer, Options, Parsed};
use grpc::{Client, Status};
use prost::Message;
use storage::{EmbeddedOptions, EmbeddedStore, Store};
use tempfile::TempDir;
use tokio::{sync::oneshot, task::JoinHandle};

/// The messages, as the server has them.
#[allow(clippy::all, clippy::pedantic, reason = "generated")]
pub mod proto {
    pub mod mvccpb {
        include!(concat!(env!("OUT_DIR"), "/mvccpb.rs"));
    }
    pub mod etcdserverpb {
        include!(concat!(env!("OUT_DIR"), "/etcdserverpb.rs"));
    }
    pub use etcdserverpb::*;
}

/// A served store; dropping it stops nothing, [`Served::stop`] does.
pub struct Served {
    pub url: String,
    pub store: Arc<EmbeddedStore>,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
    pub dir: TempDir,
}

/// Parses flags.
pub fn options(flags: &[&str]) -> Options {
    let flags: Vec<OsString> = flags.iter().map(OsString::from).collect();
    match Options::parse("etcd", &flags, []).unwrap() {
        Parsed::Run(options) => *options,
        Parsed::Print(text) => panic!("{text}"),
    }
}

impl Served {
    /// Serves a new store on a free port.
    pub async fn start(flags: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), flags).await
    }

    /// Serves the store in a directory on a free port.
    pub async fn start_in(dir: TempDir, flags: &[&str]) -> Self {
        let flags: Vec<&str> = ["--listen-client-urls=http://127.0.0.1:0"].iter().chain(flags).copied().collect();
        let options = options(&flags);
        let embedded =
            EmbeddedOptions { compaction_interval: None, durable: options.durable, ..EmbeddedOptions::default() };
        let store = Arc::new(EmbeddedStore::open_with(dir.path().join("store"), embedded).unwrap());
        let server = EtcdServer::bind(Arc::clone(&store), &options).await.unwrap();
        let scheme = if options.listen[0].tls { "https" } else { "http" };
        let url = format!("{scheme}://{}", server.addresses()[0]);
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(server.serve_until(async {
            let _ = stopped.await;
        }));
        Self { url, store, stop: Some(stop), serving, dir }
    }

    /// Stops the server, closes the store and returns its directory.
    pub async fn stop(mut self) -> TempDir {
        let _ = self.stop.take().unwrap().send(());
        self.serving.await.unwrap();
        self.store.close().await.unwrap();
        self.dir
    }

    pub async fn calls(&self) -> Calls {
        Calls::connect(&self.url).await
    }
}

/// A real etcd on free ports. Its tests have the attribute `#[needs(etcd)]`.
pub struct RealEtcd {
    process: Child,
    pub url: String,
    _dir: TempDir,
}

impl RealEtcd {
    pub fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (client, peer) = (ports::free_port(Ipv4Addr::LOCALHOST), ports::free_port(Ipv4Addr::LOCALHOST));
        let (url, peer) = (format!("http://127.0.0.1:{client}"), format!("http://127.0.0.1:{peer}"));
        let process = Command::new(needs::program!(etcd))
            .args([
                format!("--data-dir={}", dir.path().display()),
                format!("--listen-client-urls={url}"),
                format!("--advertise-client-urls={url}"),
                format!("--listen-peer-urls={peer}"),
                format!("--initial-advertise-peer-urls={peer}"),
                format!("--initial-cluster=default={peer}"),
                "--unsafe-no-fsync".into(),
                "--log-level=error".into(),
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { process, url, _dir: dir }
    }
}

impl Drop for RealEtcd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Calls of a server.
#[derive(Clone)]
pub struct Calls(pub Client);

impl Calls {
    /// Waits until the server is reachable.
    pub async fn connect(url: &str) -> Self {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            match Client::connected(url).await {
                Ok(client) => return Self(client),
                Err(error) => assert!(Instant::now() < end, "{url}: {error}"),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub async fn call<Q, A>(&self, method: &'static str, message: Q) -> Result<A, Status>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        self.0.call(method, message).await
    }

    pub async fn put(&self, key: &str, value: &str) -> i64 {
        let request = proto::PutRequest {
            key: key.to_owned().into(),
            value: value.to_owned().into(),
            ..proto::PutRequest::default()
        };
        let response: proto::PutResponse = self.call(PUT, request).await.unwrap();
        response.header.unwrap().revision
    }
}

pub const RANGE: &str = "/etcdserverpb.KV/Range";
pub const PUT: &str = "/etcdserverpb.KV/Put";
pub const DELETE_RANGE: &str = "/etcdserverpb.KV/DeleteRange";
pub const TXN: &str = "/etcdserverpb.KV/Txn";
pub const COMPACT: &str = "/etcdserverpb.KV/Compact";
pub const WATCH: &str = "/etcdserverpb.Watch/Watch";
pub const GRANT: &str = "/etcdserverpb.Lease/LeaseGrant";
pub const REVOKE: &str = "/etcdserverpb.Lease/LeaseRevoke";
pub const KEEP_ALIVE: &str = "/etcdserverpb.Lease/LeaseKeepAlive";
pub const TIME_TO_LIVE: &str = "/etcdserverpb.Lease/LeaseTimeToLive";
pub const LEASES: &str = "/etcdserverpb.Lease/LeaseLeases";
pub const HASH_KV: &str = "/etcdserverpb.Maintenance/HashKV";
pub const STATUS: &str = "/etcdserverpb.Maintenance/Status";
pub const ALARM: &str = "/etcdserverpb.Maintenance/Alarm";
