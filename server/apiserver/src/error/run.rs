//! Errors of the server.

use std::io;
use std::path::PathBuf;

use machinery::status::Status;

use super::BoxError;

/// The reason why the server does not start, or stops.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The threads of the server cannot be started.
    #[error(transparent)]
    Runtime(io::Error),
    /// A file that an option names is unusable.
    #[error(transparent)]
    Options(#[from] options::Error),
    #[error(transparent)]
    Serving(#[from] serving::Error),
    /// The encryption at rest cannot be configured.
    #[error(transparent)]
    Encryption(#[from] encryption::Error),
    /// A store cannot be opened, or failed permanently.
    #[error(transparent)]
    Store(#[from] storage::Error),
    #[error("{} is the data directory of a running server: stop that, or name another with --data-dir", dir.display())]
    DataInUse { dir: PathBuf },
    /// The store cannot be served over etcd's API.
    #[error("--etcd-listen-client-urls: {0}")]
    Etcd(#[from] etcd_server::Error),
    #[error("--etcd-listen-client-urls: the program has a store of its own, which cannot be served")]
    NotEmbedded,
    /// `--runtime-config` names groups that no catalog has.
    #[error("unknown api groups {}", groups.join(","))]
    UnknownGroups { groups: Vec<String> },
    /// `--runtime-config` names a version that its group does not have.
    #[error("group version {group}/{version} that has not been registered")]
    UnknownVersion { group: String, version: String },
    /// The client of other servers of the cluster cannot be configured.
    #[error(transparent)]
    Peers(BoxError),
    /// The objects of a new cluster cannot be created.
    #[error(transparent)]
    Bootstrap(Box<Status>),
}

/// The reason why a store is unhealthy; the texts are upstream's.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum ProbeError {
    #[error("error getting data from etcd: {0}")]
    Read(#[source] storage::Error),
    #[error("error getting data from etcd: context deadline exceeded")]
    Timeout,
    #[error("error writing data to etcd: {0}")]
    Write(#[source] storage::Error),
}
