//! What the flags select.

use std::{path::PathBuf, time::Duration};

use rustls::CipherSuite;
use tracing::Level;

/// The options of a server; the defaults are etcd's.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of the member.
    pub name: String,
    /// The directory of the data; the store is in its folder `store`.
    pub data_dir: PathBuf,
    /// Where gRPC is served, and HTTP if `http` is empty.
    pub listen: Vec<Address>,
    /// Where HTTP is served without gRPC.
    pub listen_http: Vec<Address>,
    /// Where metrics and health are served besides.
    pub listen_metrics: Vec<Address>,
    /// The URLs that the member advertises to clients.
    pub client_urls: Vec<String>,
    /// The URLs that the member advertises to other members. Its number is computed from them.
    pub peer_urls: Vec<String>,
    /// The name of the cluster, from which numbers are computed too.
    pub token: String,
    /// Certificates, for addresses with `https`.
    pub tls: Option<TlsOptions>,
    /// Whether acknowledged writes survive a power cut.
    pub durable: bool,
    /// Maximum size of the database in bytes; `None` is unlimited.
    pub quota: Option<u64>,
    /// What is compacted without a request.
    pub compaction: Option<Compaction>,
    /// Limits of requests.
    pub limits: Limits,
    /// Whether several processes may listen at the same address.
    pub reuse_port: bool,
    /// The lowest level of messages that are logged.
    pub log_level: Level,
    /// Whether messages go to standard output instead of standard error.
    pub log_to_stdout: bool,
}

/// An address to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Whether connections use TLS.
    pub tls: bool,
    /// The host: a name or an IP address.
    pub host: String,
    /// The port; 0 lets the system choose.
    pub port: u16,
}

/// The files of TLS. They are read again while the server runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsOptions {
    /// The certificate of the server, with its chain.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// The authorities of client certificates. With them, every client needs a certificate.
    pub client_ca: Option<PathBuf>,
    /// The cipher suites of TLS 1.2; empty means all.
    pub cipher_suites: Vec<CipherSuite>,
    /// Whether TLS 1.2 is allowed.
    pub tls12: bool,
    /// Whether TLS 1.3 is allowed.
    pub tls13: bool,
}

/// What the server compacts by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compaction {
    /// The history that is older than this.
    Periodic(Duration),
    /// All but this number of revisions.
    Revisions(u64),
}

/// Limits of requests and connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of operations, and of comparisons, of a transaction.
    pub max_txn_ops: usize,
    /// Maximum size in bytes of a request that writes.
    pub max_request_bytes: usize,
    /// Maximum number of streams of a connection.
    pub max_concurrent_streams: u32,
    /// Interval of the progress notifications of watches that want them.
    pub progress_interval: Duration,
    /// Interval of pings to clients; `None` for no pings.
    pub keepalive_interval: Option<Duration>,
    /// How long a client may take to answer one.
    pub keepalive_timeout: Duration,
    /// The shortest lifetime of a lease, in seconds.
    pub min_lease_ttl: u64,
}

/// The result of a command line.
#[derive(Clone, Debug)]
pub enum Parsed {
    /// The server is to run.
    Run(Box<Options>),
    /// A text is to be printed.
    Print(String),
}
