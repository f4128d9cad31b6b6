//! Options of the etcd store.

use std::path::PathBuf;
use std::time::Duration;

/// The address of an etcd cluster and options for its use.
#[derive(Clone, Debug)]
pub struct EtcdOptions {
    /// Addresses of the members (`--etcd-servers`).
    pub servers: Vec<String>,
    /// CA certificates for the members, in PEM (`--etcd-cafile`).
    pub ca_file: Option<PathBuf>,
    /// Client certificate and key, in PEM (`--etcd-certfile`, `--etcd-keyfile`).
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// Interval of compactions (`--etcd-compaction-interval`); `None` disables them.
    ///
    /// All servers of one etcd share its compactions.
    pub compaction_interval: Option<Duration>,
    /// How long a lease is reused (`--lease-reuse-duration-seconds`).
    pub lease_reuse: Duration,
}

impl EtcdOptions {
    /// Returns upstream's defaults, for an etcd without TLS.
    pub fn new(servers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            servers: servers.into_iter().map(Into::into).collect(),
            ca_file: None,
            certificate: None,
            compaction_interval: Some(Duration::from_secs(300)),
            lease_reuse: Duration::from_secs(60),
        }
    }
}
