//! An etcd cluster, and the requests that the store sends to it.

use std::time::{Duration, Instant};

use etcd_client::proto::{PbRangeResponse, PbTxnResponse};
use tonic::{Code, Status};

use super::client::{Client, Range, Repeat};
use super::failure::failure;
use super::leases::LeaseManager;
use super::{convert, feed, txn};
use crate::{Error, KeyRange, ListOptions, ListResponse, Op, Result, Revision, Txn};

/// Number of keys per request of an unlimited list, so that no message is as large as the whole list.
pub(super) const PAGE: usize = 5000;

/// Delay between attempts to reach a cluster that does not answer.
const PAUSE: Duration = Duration::from_millis(250);

/// How long to wait for the first answer of a cluster, as upstream's client does.
const FIRST_ANSWER: Duration = Duration::from_secs(20);

/// The state that all parts of a store share.
pub(super) struct Cluster {
    pub(super) client: Client,
    pub(super) leases: LeaseManager,
    /// Counts progress requests.
    pub(super) progress: tokio::sync::watch::Sender<u64>,
    pub(super) closed: tokio::sync::watch::Sender<bool>,
}

impl Cluster {
    pub(super) fn check_open(&self) -> Result<()> {
        if *self.closed.borrow() { Err(Error::Closed) } else { Ok(()) }
    }

    /// Sleeps before another attempt.
    pub(super) async fn pause(&self) -> Result<()> {
        tokio::time::sleep(PAUSE).await;
        self.check_open()
    }

    pub(super) async fn wait_until_reachable(&self) -> Result<()> {
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

    pub(super) async fn current_revision(&self) -> Result<Revision> {
        // Any key will do.
        let range = Range { key: b"revision".to_vec(), count_only: true, ..Range::default() };
        Ok(convert::revision(self.range(&range).await?.header))
    }

    pub(super) async fn range(&self, range: &Range) -> Result<PbRangeResponse> {
        self.check_open()?;
        match self.client.range(range).await {
            Ok(answer) => Ok(answer),
            Err(status) => Err(self.explain(status, convert::from_wire(range.revision)).await),
        }
    }

    /// Lists page by page, at the revision of the first page.
    pub(super) async fn list(&self, range: KeyRange, options: ListOptions) -> Result<ListResponse> {
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

    pub(super) async fn compact(&self, revision: Revision) -> Result<()> {
        let compacted = self.client.call(Repeat::Always, |member| {
            let mut kv = member.kv.clone();
            async move { kv.compact(convert::to_wire(revision), None).await }
        });
        match compacted.await {
            Ok(_) => Ok(()),
            Err(status) => Err(self.explain(status, revision).await),
        }
    }

    pub(super) async fn commit(&self, txn: &Txn) -> Result<PbTxnResponse, Status> {
        let lease = match txn.op {
            Op::Put { ttl_seconds: Some(ttl), .. } => self.leases.get(&self.client, ttl.get()).await?,
            _ => 0,
        };
        self.client.txn(|| txn::commit(txn, lease)).await
    }

    /// Converts the error of a call for a revision.
    pub(super) async fn explain(&self, status: Status, requested: Revision) -> Error {
        let is_error = |what| status.code() == Code::OutOfRange && status.message().contains(what);
        let explained = if is_error("has been compacted") {
            let compacted = feed::compacted_revision(&self.client).await;
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
