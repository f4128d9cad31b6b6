//! Selection of the etcd member for a call, and retries with other members.
//!
//! Calls go to one member until it fails; then the next member becomes the preferred one. A read is
//! retried while the cluster is unreachable. A write is retried only if it certainly was not sent,
//! because the effect of one that was sent is unknown. etcd's own client draws the same line.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use etcd_client::{
    GetOptions, Txn, WatchOptions, WatchStream,
    proto::{PbRangeResponse, PbTxnResponse},
};
use tonic::Status;

use super::{
    EtcdOptions,
    failure::{is_transient, status, was_not_sent},
    member::{self, Member},
};
use crate::Result;

/// How long a call tries members until one answers.
const RETRY_TIMEOUT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(50);

/// When a call may be retried.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    Always,
    /// Only when the first request was never sent.
    Unsent,
}

impl Repeat {
    fn allows(self, status: &Status) -> bool {
        match self {
            Self::Always => is_transient(status),
            Self::Unsent => was_not_sent(status),
        }
    }
}

/// The keys and the revision of a read.
#[derive(Clone, Debug, Default)]
pub(super) struct Range {
    pub(super) key: Vec<u8>,
    /// Empty for a single key.
    pub(super) end: Vec<u8>,
    /// 0 for no limit.
    pub(super) limit: i64,
    /// 0 for the current revision.
    pub(super) revision: i64,
    pub(super) count_only: bool,
}

impl Range {
    fn options(&self) -> GetOptions {
        let options =
            GetOptions::new().with_range(self.end.clone()).with_limit(self.limit).with_revision(self.revision);
        if self.count_only { options.with_count_only() } else { options }
    }
}

pub(super) struct Client {
    members: Vec<Member>,
    preferred: AtomicUsize,
}

impl Client {
    /// Prepares connections, which are opened on first use.
    pub(super) async fn new(options: &EtcdOptions) -> Result<Self> {
        let tls = member::tls(options)?;
        let mut members = Vec::with_capacity(options.servers.len());
        for url in &options.servers {
            members.push(Member::new(url, tls.as_ref()).await?);
        }
        Ok(Self { members, preferred: AtomicUsize::new(0) })
    }

    /// Returns the addresses of the members.
    pub(super) fn urls(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| &*member.url)
    }

    /// Calls members until one answers. `attempt` builds the request each time, because an attempt consumes it.
    pub(super) async fn call<A, F>(&self, repeat: Repeat, attempt: impl Fn(&Member) -> F) -> Result<A, Status>
    where
        F: Future<Output = Result<A, etcd_client::Error>>,
    {
        let deadline = Instant::now() + RETRY_TIMEOUT;
        loop {
            let (index, member) = self.member();
            let status = match attempt(member).await {
                Ok(answer) => return Ok(answer),
                Err(error) => status(error),
            };
            if !repeat.allows(&status) || Instant::now() > deadline {
                return Err(status);
            }
            self.avoid(index);
            tokio::time::sleep(PAUSE).await;
        }
    }

    pub(super) async fn range(&self, range: &Range) -> Result<PbRangeResponse, Status> {
        let answer = self.call(Repeat::Always, |member| {
            let (mut kv, key, options) = (member.kv.clone(), range.key.clone(), range.options());
            async move { kv.get(key, Some(options)).await }
        });
        Ok(answer.await?.0)
    }

    pub(super) async fn txn(&self, build: impl Fn() -> Txn) -> Result<PbTxnResponse, Status> {
        let answer = self.call(Repeat::Unsent, |member| {
            let (mut kv, txn) = (member.kv.clone(), build());
            async move { kv.txn(txn).await }
        });
        Ok(answer.await?.0)
    }

    /// Opens a stream with one watch, in one attempt. After a failure the next call uses another member.
    pub(super) async fn watch(&self, key: Vec<u8>, options: WatchOptions) -> Result<WatchStream, Status> {
        let (index, member) = self.member();
        let outcome = member.watch.clone().watch(key, Some(options)).await;
        outcome.map_err(|error| {
            self.avoid(index);
            status(error)
        })
    }

    /// Returns the database size that each member reports.
    pub(super) async fn database_sizes(&self) -> Vec<(&str, Result<i64, Status>)> {
        let mut all = Vec::with_capacity(self.members.len());
        for member in &self.members {
            let answer = member.maintenance.clone().status().await;
            all.push((&*member.url, answer.map(|answer| answer.db_size()).map_err(status)));
        }
        all
    }

    fn member(&self) -> (usize, &Member) {
        let index = self.preferred.load(Ordering::Relaxed) % self.members.len();
        (index, &self.members[index])
    }

    /// Makes the next member the preferred one, unless a concurrent call has done so.
    fn avoid(&self, index: usize) {
        let next = (index + 1) % self.members.len();
        let _ = self.preferred.compare_exchange(index, next, Ordering::Relaxed, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
