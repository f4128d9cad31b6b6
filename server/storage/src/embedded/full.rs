//! The calls of etcd's model beyond [`Store`](crate::Store).

use std::{path::Path, sync::Arc};

use super::{
    EmbeddedStore, EmbeddedWatch, WatchHandle, leases, non_zero,
    queue::{Command, Compaction, Job, Outcome},
    watch,
    watcher::Watcher,
};
use crate::{
    Error, KeyRange, LeaseId, Result, Revision,
    model::{KvHash, LeaseInfo, RangeQuery, RangeResult, Request, Response, Sizes},
};

/// Maximum size in bytes of the events that are queued for one watch of etcd's API. A slower reader
/// costs no memory: its watch continues from the history.
const WATCH_QUEUE_BYTES: usize = 1 << 20;

/// Keys.
impl EmbeddedStore {
    /// Reads a range.
    ///
    /// # Errors
    /// As [`Store::list`](crate::Store::list).
    pub async fn range(&self, query: RangeQuery) -> Result<RangeResult> {
        match query.range.single() {
            // Runs on this thread: it takes microseconds when the page is in memory, else one disk read.
            Some(_) => self.readers.read(|snapshot| snapshot.query(&query)),
            None => self.readers.read_blocking(move |snapshot| snapshot.query(&query)).await,
        }
    }

    /// Carries out a request, all of it at one revision.
    ///
    /// Comparisons are decided before anything is written. Puts and removals within one transaction
    /// must not overlap; the caller checks that.
    ///
    /// # Errors
    /// [`Error::Compacted`] and [`Error::FutureRevision`] for the revision of a range,
    /// [`Error::KeyNotFound`] and [`Error::LeaseNotFound`] for a put, [`Error::TooManyWrites`] for a
    /// removal, and those of [`Store::commit`](crate::Store::commit). Nothing is written then.
    pub async fn transact(&self, request: Request) -> Result<Response> {
        if request.is_read_only() {
            return self.readers.read_blocking(move |snapshot| snapshot.read_only(&request)).await;
        }
        match self.write(Job::Transact(request)).await? {
            Outcome::Responded(response) => Ok(response),
            Outcome::Committed(_) | Outcome::Done => Err(Error::Closed), // the writer answers each job in kind
        }
    }

    /// Watches a range from a revision on, that revision included; `None` or 0 is from now on.
    ///
    /// A slow reader does not end the watch.
    ///
    /// # Errors
    /// [`Error::Compacted`] for a revision below the compacted one.
    pub async fn watch_all(&self, range: KeyRange, from: Option<Revision>) -> Result<EmbeddedWatch> {
        let watcher = Arc::new(Watcher::new(range, WATCH_QUEUE_BYTES, false));
        let stream = watch::open(self.source(), watcher, non_zero(from)).await?;
        Ok(EmbeddedWatch::new(self.source(), stream))
    }

    /// Returns the current revision if all of these watches have delivered every change up to it.
    pub fn caught_up<'a>(&self, watches: impl IntoIterator<Item = &'a WatchHandle>) -> Option<Revision> {
        self.hub.caught_up(watches.into_iter().map(|handle| &handle.0))
    }

    /// Compacts, and waits until the rows that became invisible have been removed.
    ///
    /// # Errors
    /// As [`Store::compact`](crate::Store::compact).
    pub async fn compact_physically(&self, revision: Revision) -> Result<()> {
        let compaction = |answer| Compaction { revision, answer: Some(answer), physical: true };
        self.queue.order(|answer| Command::Compact(compaction(answer))).await
    }
}

/// Leases.
impl EmbeddedStore {
    /// Grants a lease with a lifetime in seconds. After it, the keys that are attached to the lease are
    /// removed, unless the lease is renewed before.
    ///
    /// # Errors
    /// [`Error::LeaseExists`], and those of [`Store::commit`](crate::Store::commit).
    pub async fn grant_lease(&self, id: LeaseId, ttl: u64) -> Result<()> {
        self.write(Job::Grant { id, ttl }).await.map(drop)
    }

    /// Removes a lease and the keys that are attached to it.
    ///
    /// # Errors
    /// [`Error::LeaseNotFound`], and those of [`Store::commit`](crate::Store::commit).
    pub async fn revoke_lease(&self, id: LeaseId) -> Result<()> {
        self.write(Job::Revoke { id }).await.map(drop)
    }

    /// Restarts the lifetime of a lease, and returns it in seconds; `None` when the lease does not exist
    /// or has expired. Writes nothing: the start of the store restarts every lease.
    pub fn renew_lease(&self, id: LeaseId) -> Option<u64> {
        self.leases.renew(id)
    }

    /// Returns a lease, with its keys on request; `None` when it does not exist or has expired.
    ///
    /// # Errors
    /// Those of each call.
    pub async fn lease(&self, id: LeaseId, with_keys: bool) -> Result<Option<LeaseInfo>> {
        let Some((ttl, remaining)) = self.leases.get(id) else { return Ok(None) };
        let keys = match with_keys {
            true => self.readers.read_blocking(move |snapshot| leases::keys(snapshot.connection(), id)).await?,
            false => Vec::new(),
        };
        Ok(Some(LeaseInfo { ttl, remaining, keys }))
    }

    /// Returns all leases, the next one to expire first.
    pub fn leases(&self) -> Vec<LeaseId> {
        self.leases.all()
    }
}

/// Maintenance.
impl EmbeddedStore {
    /// Returns the directory of the store.
    pub fn directory(&self) -> &Path {
        &self.path
    }

    /// Rewrites the database without the space that is not used. Writes wait meanwhile.
    ///
    /// # Errors
    /// [`Error::NoSpace`] when there is no room for the copy, and those of each call.
    pub async fn defragment(&self) -> Result<()> {
        self.queue.order(|answer| Command::Defragment { answer }).await
    }

    /// Returns the size of the database.
    ///
    /// # Errors
    /// Those of each call.
    pub fn sizes(&self) -> Result<Sizes> {
        self.readers.read(|snapshot| {
            let pragma = |name| snapshot.connection().pragma_query_value(None, name, |row| row.get::<_, u64>(0));
            let (page, pages, free) = (pragma("page_size")?, pragma("page_count")?, pragma("freelist_count")?);
            Ok(Sizes { total: pages * page, in_use: pages.saturating_sub(free) * page })
        })
    }

    /// Computes the checksum of the history up to a revision; `None` or 0 is the current one. An etcd
    /// with the same history computes the same.
    ///
    /// # Errors
    /// [`Error::Compacted`] and [`Error::FutureRevision`] for the revision.
    pub async fn hash_history(&self, revision: Option<Revision>) -> Result<KvHash> {
        self.readers.read_blocking(move |snapshot| snapshot.hash(non_zero(revision))).await
    }

    /// Computes a checksum of everything, and returns it with the revision of the store.
    ///
    /// # Errors
    /// Those of each call.
    pub async fn hash_all(&self) -> Result<(u32, Revision)> {
        self.readers.read_blocking(|snapshot| snapshot.hash_all()).await
    }

    /// Returns the compacted revision; 0 when the store was never compacted.
    ///
    /// # Errors
    /// Those of each call.
    pub fn compacted_revision(&self) -> Result<Revision> {
        self.readers.read(|snapshot| Ok(snapshot.state().compacted))
    }

    /// Returns the alarms that were raised: numbers of members and kinds.
    ///
    /// # Errors
    /// Those of each call.
    pub fn alarms(&self) -> Result<Vec<(u64, i32)>> {
        self.readers.read(|snapshot| {
            let mut select =
                snapshot.connection().prepare_cached("SELECT member, kind FROM alarm ORDER BY member, kind")?;
            let alarms = select.query_map([], |row| Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get(1)?)))?;
            Ok(alarms.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Records an alarm of a member. The store only keeps it.
    ///
    /// # Errors
    /// Those of [`Store::commit`](crate::Store::commit).
    pub async fn raise_alarm(&self, member: u64, kind: i32) -> Result<()> {
        self.write(Job::RaiseAlarm { member, kind }).await.map(drop)
    }

    /// Removes an alarm of a member.
    ///
    /// # Errors
    /// Those of [`Store::commit`](crate::Store::commit).
    pub async fn clear_alarm(&self, member: u64, kind: i32) -> Result<()> {
        self.write(Job::ClearAlarm { member, kind }).await.map(drop)
    }
}
