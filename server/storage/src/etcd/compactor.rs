//! Compaction that several servers share, upstream's included (`etcd3.compactor`).
//!
//! The version of one key counts the compactions. In each interval every server tries to write the next
//! number. The server that succeeds compacts to the revision it saw one interval ago. The others read
//! the number and the current revision.

use std::time::Duration;

use etcd_client::{
    Compare, CompareOp, Txn, TxnOp,
    proto::{PbTxnOpResponse, PbTxnResponse},
};
use tonic::Status;

use super::{Cluster, convert, failure::failure, txn};
use crate::{Error, Result, Revision};

/// Upstream's key, outside every prefix.
const KEY: &[u8] = b"compact_rev_key";

/// The state of this server after its last attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Attempt {
    /// The number of compactions so far.
    number: i64,
    /// The revision of the store at that time; the next attempt compacts to it.
    revision: Revision,
}

/// Compacts periodically until the store is closed.
pub(super) async fn run(cluster: std::sync::Arc<Cluster>, interval: Duration) {
    let mut closed = cluster.closed.subscribe();
    let mut last = Attempt::default();
    loop {
        tokio::select! {
            () = tokio::time::sleep(interval) => {}
            _ = closed.wait_for(|closed| *closed) => return,
        }
        match attempt(&cluster, last).await {
            Ok(attempt) => last = attempt,
            Err(error) => tracing::error!(%error, "compaction of etcd failed"),
        }
    }
}

/// Compacts to the revision of the last attempt, unless another server has compacted since.
pub(super) async fn attempt(cluster: &Cluster, last: Attempt) -> Result<Attempt> {
    let answer = claim(cluster, last).await.map_err(failure)?;
    let revision = convert::revision(answer.header);
    if !answer.succeeded {
        let Some(PbTxnOpResponse::ResponseRange(range)) = txn::first(answer) else {
            return Ok(Attempt { number: 0, revision });
        };
        return Ok(Attempt { number: range.kvs.first().map_or(0, |kv| kv.version), revision });
    }
    if last.revision != 0 {
        match cluster.compact(last.revision).await {
            Ok(()) | Err(Error::Compacted { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Attempt { number: last.number + 1, revision })
}

/// Writes the next number, or reads the key if another server has written it.
async fn claim(cluster: &Cluster, last: Attempt) -> Result<PbTxnResponse, Status> {
    let value = last.revision.to_string();
    let claim = || {
        Txn::new()
            .when([Compare::version(KEY, CompareOp::Equal, last.number)])
            .and_then([txn::put(KEY, value.as_bytes(), 0)])
            .or_else([TxnOp::get(KEY, None)])
    };
    cluster.client.txn(claim).await
}
