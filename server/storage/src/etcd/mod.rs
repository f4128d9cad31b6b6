//! The etcd store: keys, values and leases in upstream's format, so that upstream's server can use the
//! same etcd.
//!
//! | file | part |
//! |---|---|
//! | `member` | the connection to one member, and the clients of `etcd-client` on it |
//! | `client`, `failure` | selection of the member for a call, and retries |
//! | `convert`, `txn` | conversion between etcd's messages and the types of the store |
//! | `batched` | one request for concurrent calls |
//! | `watch` | the stream of one watcher, reopened after an interruption |
//! | `leases`, `compactor` | leases and compaction, shared as upstream shares them |
//! | `snapshot` | saving to and restoring from snapshot files |

mod batched;
mod client;
mod cluster;
mod compactor;
mod convert;
mod failure;
mod feed;
mod leases;
mod member;
mod options;
mod snapshot;
mod txn;
mod watch;

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use tonic::Status;

use self::{
    batched::Batched,
    client::{Client, Range},
    failure::failure,
    leases::LeaseManager,
};
use crate::{
    CountResponse, Error, GetResponse, KeyRange, ListOptions, ListResponse, Op, Result, Revision, Store, Txn,
    TxnOutcome, Watch, snapshot::Summary,
};
use cluster::Cluster;
pub use options::EtcdOptions;

/// A store in an etcd cluster.
///
/// It requires etcd 3.4.31, 3.5.13 or newer. Older versions can send progress ahead of events.
pub struct EtcdStore {
    cluster: Arc<Cluster>,
    revision: Batched<Result<Revision>>,
}

/// The size of a member's database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseSize {
    /// The member's address.
    pub endpoint: String,
    /// Size in bytes; `None` when the member does not answer.
    pub bytes: Option<u64>,
}

impl EtcdStore {
    /// Connects to a cluster and starts its periodic compaction.
    ///
    /// # Errors
    /// [`Error::Backend`] when files or addresses cannot be used, or when no member answers for 20 seconds.
    pub async fn connect(options: EtcdOptions) -> Result<Self> {
        let cluster = Arc::new(Cluster {
            client: Client::new(&options).await?,
            leases: LeaseManager::new(options.lease_reuse),
            progress: tokio::sync::watch::Sender::new(0),
            closed: tokio::sync::watch::Sender::new(false),
        });
        cluster.wait_until_reachable().await?;
        if let Some(interval) = options.compaction_interval {
            tokio::spawn(compactor::run(Arc::clone(&cluster), interval));
        }
        let revision = Batched::new({
            let cluster = Arc::clone(&cluster);
            move || {
                let cluster = Arc::clone(&cluster);
                async move { cluster.current_revision().await }
            }
        });
        Ok(Self { cluster, revision })
    }

    /// Returns the sizes of the members' databases.
    ///
    /// Upstream's metric is `apiserver_storage_size_bytes`.
    pub async fn database_sizes(&self) -> Vec<DatabaseSize> {
        let all = self.cluster.client.database_sizes().await.into_iter();
        let size = |size: Result<i64, Status>| size.ok().map(convert::from_wire);
        all.map(|(url, bytes)| DatabaseSize { endpoint: url.to_owned(), bytes: size(bytes) }).collect()
    }

    /// Writes the keys below a prefix to a snapshot file.
    ///
    /// # Errors
    /// Those of reading, and [`Error::Snapshot`] when the file cannot be written.
    pub async fn save(&self, prefix: &str, file: &Path) -> Result<Summary> {
        snapshot::save(&self.cluster, prefix, file).await
    }

    /// Writes the keys of a snapshot file and raises the revision above the snapshot's.
    ///
    /// # Errors
    /// [`Error::Snapshot`] when the file is damaged, [`Error::Occupied`] when keys already exist below
    /// the prefix, and those of writes. After a failed write, a part of the keys may be written.
    pub async fn restore(&self, prefix: &str, file: &Path) -> Result<Summary> {
        snapshot::restore(&self.cluster, prefix, file).await
    }
}

#[async_trait]
impl Store for EtcdStore {
    async fn get(&self, key: &[u8], revision: Option<Revision>) -> Result<GetResponse> {
        let revision = convert::to_wire(revision.unwrap_or(0));
        let answer = self.cluster.range(&Range { key: key.to_vec(), revision, ..Range::default() }).await?;
        let kv = answer.kvs.into_iter().next().map(convert::key_value);
        Ok(GetResponse { kv, revision: convert::revision(answer.header) })
    }

    async fn list(&self, range: KeyRange, options: ListOptions) -> Result<ListResponse> {
        self.cluster.list(range, options).await
    }

    async fn count(&self, range: KeyRange) -> Result<CountResponse> {
        let (key, end) = convert::range(&range);
        let answer = self.cluster.range(&Range { key, end, count_only: true, ..Range::default() }).await?;
        Ok(CountResponse { count: convert::from_wire(answer.count), revision: convert::revision(answer.header) })
    }

    async fn commit(&self, txn: Txn) -> Result<TxnOutcome> {
        if txn.key.is_empty() {
            return Err(Error::EmptyKey);
        }
        self.cluster.check_open()?;
        let is_delete = matches!(txn.op, Op::Delete);
        let answer = self.cluster.commit(&txn).await.map_err(failure)?;
        Ok(txn::outcome(answer, is_delete))
    }

    async fn watch(&self, range: KeyRange, from: Option<Revision>) -> Result<Watch> {
        self.cluster.check_open()?;
        watch::open(Arc::clone(&self.cluster), range, from.filter(|&from| from != 0)).await
    }

    async fn request_progress(&self) -> Result<()> {
        self.cluster.check_open()?;
        self.cluster.progress.send_modify(|requests| *requests += 1);
        Ok(())
    }

    async fn compact(&self, revision: Revision) -> Result<()> {
        self.cluster.check_open()?;
        self.cluster.compact(revision).await
    }

    async fn current_revision(&self) -> Result<Revision> {
        self.revision.call().await.unwrap_or(Err(Error::Closed))
    }

    async fn close(&self) -> Result<()> {
        self.cluster.closed.send_replace(true);
        Ok(())
    }
}

impl Drop for EtcdStore {
    /// Ends watches and compaction.
    fn drop(&mut self) {
        self.cluster.closed.send_replace(true);
    }
}
