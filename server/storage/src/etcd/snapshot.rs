//! Saves the contents of an etcd to a snapshot file, and restores them from one.

use std::{collections::HashMap, path::Path, sync::Arc, time::Duration};

use etcd_client::{Txn, TxnOp, proto::PbRangeResponse};
use tokio::task::JoinSet;
use tonic::Status;

use super::{Cluster, client::Range, cluster::PAGE, convert, failure::failure, leases, txn};
use crate::{
    Error, KeyRange, Result, Revision,
    clock::unix_millis,
    snapshot::{SnapshotEntry, SnapshotReader, SnapshotWriter, Summary},
};

/// Maximum number of concurrent writes.
const WRITES: usize = 128;
/// Leases that expire within this many milliseconds of each other are merged.
const LEASE_GRAIN: u64 = 60_000;
/// The key that is written repeatedly to raise the revision above the snapshot's.
const FILLER: &[u8] = b"kube-apiserver_snapshot_restore";

pub(super) async fn save(cluster: &Cluster, prefix: &str, file: &Path) -> Result<Summary> {
    let (mut key, end) = convert::range(&below(prefix));
    let mut range = Range { key: key.clone(), end, limit: PAGE as i64, ..Range::default() };
    let mut page = cluster.range(&range).await?;
    let revision = convert::revision(page.header);
    range.revision = convert::to_wire(revision);
    let mut writer = SnapshotWriter::create(file, revision)?;
    let mut expiries = Expiries::default();
    loop {
        let PbRangeResponse { kvs, more, .. } = page;
        for kv in kvs {
            key.clone_from(&kv.key);
            let expires_at = expiries.of(cluster, kv.lease).await.map_err(failure)?;
            writer.push(&SnapshotEntry { kv: convert::key_value(kv), expires_at })?;
        }
        if !more {
            return writer.finish();
        }
        range.key = [&key[..], b"\0"].concat();
        page = cluster.range(&range).await?;
    }
}

pub(super) async fn restore(cluster: &Arc<Cluster>, prefix: &str, file: &Path) -> Result<Summary> {
    let (mut reader, summary) = SnapshotReader::open(file)?;
    let (key, end) = convert::range(&below(prefix));
    let present = Range { key, end, limit: 1, ..Range::default() };
    if !cluster.range(&present).await?.kvs.is_empty() {
        let place = format!("etcd {} below {prefix}", cluster.client.urls().collect::<Vec<_>>().join(","));
        return Err(Error::Occupied { place });
    }
    let mut writes = Writes::new(Arc::clone(cluster));
    let mut granted = HashMap::new();
    while let Some(SnapshotEntry { kv, expires_at }) = reader.next()? {
        if !below(prefix).contains(&kv.key) {
            let reason = format!("it has keys outside of {prefix}: {}", kv.key.escape_ascii());
            return Err(Error::Snapshot { file: file.to_owned(), reason });
        }
        let lease = lease(cluster, &mut granted, expires_at).await.map_err(failure)?;
        let create =
            move || Txn::new().when([txn::mod_revision(&kv.key, 0)]).and_then([txn::put(&kv.key, &kv.value, lease)]);
        writes.begin(create).await?;
    }
    writes.finish().await?;
    advance(cluster, summary.revision).await?;
    Ok(summary)
}

fn below(prefix: &str) -> KeyRange {
    KeyRange::prefix(format!("{}/", prefix.trim_end_matches('/')))
}

/// Expiry times of leases; each lease is queried once.
#[derive(Default)]
struct Expiries(HashMap<i64, Option<u64>>);

impl Expiries {
    async fn of(&mut self, cluster: &Cluster, lease: i64) -> Result<Option<u64>, Status> {
        if lease == 0 {
            return Ok(None);
        }
        if let Some(known) = self.0.get(&lease) {
            return Ok(*known);
        }
        let left = leases::time_left(&cluster.client, lease).await?.unwrap_or_default();
        let expires_at = Some(unix_millis() + left.as_secs() * 1000);
        self.0.insert(lease, expires_at);
        Ok(expires_at)
    }
}

/// Returns a lease that expires with the key or up to a minute later; 0 for a key without expiry.
async fn lease(cluster: &Cluster, granted: &mut HashMap<u64, i64>, expires_at: Option<u64>) -> Result<i64, Status> {
    let Some(expires_at) = expires_at.map(|at| at.next_multiple_of(LEASE_GRAIN)) else { return Ok(0) };
    if let Some(id) = granted.get(&expires_at) {
        return Ok(*id);
    }
    let seconds = expires_at.saturating_sub(unix_millis()).div_ceil(1000).max(1);
    let id = leases::grant(&cluster.client, Duration::from_secs(seconds)).await?;
    granted.insert(expires_at, id);
    Ok(id)
}

/// Raises etcd's revision to the snapshot's. A client that knows a resource version must not see it
/// with other contents.
async fn advance(cluster: &Arc<Cluster>, revision: Revision) -> Result<()> {
    let mut writes = Writes::new(Arc::clone(cluster));
    for _ in cluster.current_revision().await?..revision {
        writes.begin(|| Txn::new().and_then([txn::put(FILLER, b"", 0)])).await?;
    }
    writes.finish().await?;
    write(Arc::clone(cluster), || Txn::new().and_then([TxnOp::delete(FILLER, None)])).await?;
    match cluster.current_revision().await? {
        reached if reached < revision => Err(failure(Status::internal("etcd's revision did not reach the snapshot's"))),
        _ => Ok(()),
    }
}

/// Concurrent writes.
struct Writes {
    cluster: Arc<Cluster>,
    running: JoinSet<Result<()>>,
}

impl Writes {
    fn new(cluster: Arc<Cluster>) -> Self {
        Self { cluster, running: JoinSet::new() }
    }

    async fn begin(&mut self, build: impl Fn() -> Txn + Send + Sync + 'static) -> Result<()> {
        if self.running.len() >= WRITES {
            self.wait().await?;
        }
        self.running.spawn(write(Arc::clone(&self.cluster), build));
        Ok(())
    }

    async fn finish(mut self) -> Result<()> {
        while !self.running.is_empty() {
            self.wait().await?;
        }
        Ok(())
    }

    async fn wait(&mut self) -> Result<()> {
        self.running.join_next().await.map_or(Ok(()), |joined| joined.map_err(Error::backend)?)
    }
}

async fn write(cluster: Arc<Cluster>, build: impl Fn() -> Txn) -> Result<()> {
    let answer = cluster.client.txn(build).await.map_err(failure)?;
    if answer.succeeded { Ok(()) } else { Err(Error::Occupied { place: "the etcd".into() }) }
}
