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
mod compactor;
mod convert;
mod failure;
mod leases;
mod member;
mod snapshot;
mod txn;
mod watch;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use etcd_client::proto::{PbRangeResponse, PbTxnResponse};
use tonic::{Code, Status};

use self::{
    batched::Batched,
    client::{Client, Range, Repeat},
    failure::failure,
    leases::Leases,
};
use crate::{
    CountResponse, Error, GetResponse, KeyRange, ListOptions, ListResponse, Op, Result, Revision, Store, Txn,
    TxnOutcome, Watch, snapshot::Summary,
};

/// Number of keys per request of an unlimited list, so that no message is as large as the whole list.
const PAGE: usize = 5000;
/// Delay between attempts to reach a cluster that does not answer.
const PAUSE: Duration = Duration::from_millis(250);
/// How long to wait for the first answer of a cluster, as upstream's client does.
const FIRST_ANSWER: Duration = Duration::from_secs(20);

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

/// A store in an etcd cluster.
///
/// It requires etcd 3.4.31, 3.5.13 or newer. Older versions can send progress ahead of events.
pub struct EtcdStore {
    cluster: Arc<Cluster>,
    revision: Batched<Result<Revision>>,
}

/// The state that all parts of a store share.
struct Cluster {
    client: Client,
    leases: Leases,
    /// Counts progress requests.
    progress: tokio::sync::watch::Sender<u64>,
    closed: tokio::sync::watch::Sender<bool>,
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
            leases: Leases::new(options.lease_reuse),
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

impl Cluster {
    fn check_open(&self) -> Result<()> {
        if *self.closed.borrow() { Err(Error::Closed) } else { Ok(()) }
    }

    /// Sleeps before another attempt.
    async fn pause(&self) -> Result<()> {
        tokio::time::sleep(PAUSE).await;
        self.check_open()
    }

    async fn wait_until_reachable(&self) -> Result<()> {
        let deadline = Instant::now() + FIRST_ANSWER;
        while let Err(error) = self.current_revision().await {
            if Instant::now() >= deadline {
                let urls = self.client.urls().collect::<Vec<_>>().join(", ");
                return Err(failure(Status::unavailable(format!("no etcd server answers ({urls}): {error}"))));
            }
            self.pause().await?;
        }
        Ok(())
    }

    async fn current_revision(&self) -> Result<Revision> {
        // Any key will do.
        let range = Range { key: b"revision".to_vec(), count_only: true, ..Range::default() };
        Ok(convert::revision(self.range(&range).await?.header))
    }

    async fn range(&self, range: &Range) -> Result<PbRangeResponse> {
        self.check_open()?;
        match self.client.range(range).await {
            Ok(answer) => Ok(answer),
            Err(status) => Err(self.explain(status, convert::from_wire(range.revision)).await),
        }
    }

    /// Lists page by page, at the revision of the first page.
    async fn list(&self, range: KeyRange, options: ListOptions) -> Result<ListResponse> {
        let mut listed = ListResponse { kvs: Vec::new(), more: false, count: 0, revision: 0 };
        let (mut key, end) = convert::range(&range);
        let mut revision = convert::to_wire(options.revision.unwrap_or(0));
        loop {
            let left = if options.limit == 0 { PAGE } else { (options.limit - listed.kvs.len()).min(PAGE) };
            let limit = i64::try_from(left).unwrap_or(i64::MAX);
            let range = Range { key, end: end.clone(), limit, revision, count_only: false };
            let page = self.range(&range).await?;
            if listed.revision == 0 {
                listed.count = convert::from_wire(page.count);
                listed.revision = convert::revision(page.header);
                revision = if revision == 0 { convert::to_wire(listed.revision) } else { revision };
            }
            listed.more = page.more;
            listed.kvs.extend(page.kvs.into_iter().map(convert::key_value));
            match listed.kvs.last() {
                Some(last) if page.more && (options.limit == 0 || listed.kvs.len() < options.limit) => {
                    key = [&last.key[..], b"\0"].concat();
                }
                _ => return Ok(listed),
            }
        }
    }

    async fn compact(&self, revision: Revision) -> Result<()> {
        let compacted = self.client.call(Repeat::Always, |member| {
            let mut kv = member.kv.clone();
            async move { kv.compact(convert::to_wire(revision), None).await }
        });
        match compacted.await {
            Ok(_) => Ok(()),
            Err(status) => Err(self.explain(status, revision).await),
        }
    }

    async fn commit(&self, txn: &Txn) -> Result<PbTxnResponse, Status> {
        let lease = match txn.op {
            Op::Put { ttl_seconds: Some(ttl), .. } => self.leases.get(&self.client, ttl.get()).await?,
            _ => 0,
        };
        self.client.txn(|| txn::commit(txn, lease)).await
    }

    /// Converts the error of a call for a revision.
    async fn explain(&self, status: Status, requested: Revision) -> Error {
        let is_error = |what| status.code() == Code::OutOfRange && status.message().contains(what);
        let explained = if is_error("has been compacted") {
            let compacted = watch::compacted_revision(&self.client).await;
            compacted.map(|compacted| Error::Compacted { requested, compacted })
        } else if is_error("is a future revision") {
            return match Box::pin(self.current_revision()).await {
                Ok(current) => Error::FutureRevision { requested, current },
                Err(error) => error,
            };
        } else {
            Err(status)
        };
        explained.unwrap_or_else(failure)
    }
}
