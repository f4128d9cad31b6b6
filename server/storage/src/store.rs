//! The contract of every store; the tests in `tests/contract` check it.

use async_trait::async_trait;

use crate::key_value::{KeyValue, Revision};
use crate::{Error, KeyRange, Result, Txn, TxnOutcome, Watch};

/// The response of [`Store::get`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetResponse {
    /// The key, if it exists.
    pub kv: Option<KeyValue>,
    /// The store's revision at the time of the read, whatever revision was requested.
    pub revision: Revision,
}

/// The limit and the revision of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// Maximum number of keys to return; 0 for no limit.
    pub limit: usize,
    /// The revision to read at; `None` or 0 is the current one.
    pub revision: Option<Revision>,
}

/// The response of [`Store::list`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListResponse {
    /// The keys in order.
    pub kvs: Vec<KeyValue>,
    /// Whether the range has more keys than the limit.
    pub more: bool,
    /// The number of keys in the range at the revision, whatever the limit.
    pub count: u64,
    /// The store's revision at the time of the read, whatever revision was requested.
    pub revision: Revision,
}

/// The response of [`Store::count`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountResponse {
    /// The number of keys in the range.
    pub count: u64,
    /// The revision of the count.
    pub revision: Revision,
}

/// A store of keys with history, with etcd's semantics.
///
/// Writes are linearizable, and durable when acknowledged. A read sees every write acknowledged before
/// it began. A call may take effect after its future is dropped.
///
/// # Errors
/// Besides its own errors, each call fails with:
/// - [`Error::Closed`] after [`Store::close`];
/// - [`Error::Io`] or [`Error::Backend`] when the disk, the database or the etcd cluster fails;
/// - [`Error::Corrupt`] when it reads damaged data.
///
/// # Examples
/// ```
/// use storage::{KeyRange, ListOptions, Result, Store};
///
/// /// Reads all keys below a prefix in pages of 500 keys, at the revision of the first page.
/// async fn keys(store: &dyn Store, prefix: &'static str) -> Result<Vec<bytes::Bytes>> {
///     let (mut range, mut keys) = (KeyRange::prefix(prefix), Vec::new());
///     let mut options = ListOptions { limit: 500, revision: None };
///     loop {
///         let page = store.list(range.clone(), options).await?;
///         options.revision.get_or_insert(page.revision);
///         keys.extend(page.kvs.into_iter().map(|kv| kv.key));
///         match keys.last() {
///             Some(last) if page.more => range = range.after(last),
///             _ => return Ok(keys),
///         }
///     }
/// }
/// ```
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Reads a key at a revision; `None` or 0 is the current one.
    ///
    /// # Errors
    /// [`Error::Compacted`](crate::Error::Compacted) for a revision below the compacted one,
    /// [`Error::FutureRevision`](crate::Error::FutureRevision) for one that does not exist yet.
    async fn get(&self, key: &[u8], revision: Option<Revision>) -> Result<GetResponse>;

    /// Reads the keys of a range in order.
    ///
    /// To continue a limited list, list the rest of the range ([`KeyRange::after`]) at the revision of
    /// the first response.
    ///
    /// # Errors
    /// As [`Store::get`].
    async fn list(&self, range: KeyRange, options: ListOptions) -> Result<ListResponse>;

    /// Counts the keys of a range at the current revision without reading values.
    ///
    /// # Errors
    /// Only those of each call.
    async fn count(&self, range: KeyRange) -> Result<CountResponse>;

    /// Compares and writes one key. A failed comparison is an outcome, not an error.
    ///
    /// # Errors
    /// [`Error::EmptyKey`] without a key, [`Error::NoSpace`] when the disk is full or nearly full,
    /// [`Error::Untransformable`] when the value cannot be encrypted, [`Error::Failed`] after a commit
    /// that could not be made durable. After an error the write may have taken effect, unless
    /// [`Error::wrote_nothing`] returns true.
    async fn commit(&self, txn: Txn) -> Result<TxnOutcome>;

    /// Watches a range from a revision on, that revision included.
    ///
    /// `None` or 0 is from now on. A watch from a future revision waits for it.
    ///
    /// # Errors
    /// [`Error::Compacted`](crate::Error::Compacted), from this call or from the stream, for a revision
    /// below the compacted one. [`Error::WatchTooSlow`](crate::Error::WatchTooSlow), from the
    /// stream, when too many events are queued.
    async fn watch(&self, range: KeyRange, from: Option<Revision>) -> Result<Watch>;

    /// Makes every watch that is up to date deliver its progress.
    ///
    /// etcd's name of the request is `WatchProgressRequest`.
    ///
    /// # Errors
    /// [`Error::Closed`].
    async fn request_progress(&self) -> Result<()>;

    /// Discards the history that is visible only at revisions below `revision`.
    ///
    /// # Errors
    /// [`Error::Compacted`](crate::Error::Compacted) when that revision is already compacted,
    /// [`Error::FutureRevision`](crate::Error::FutureRevision) when the revision does not exist yet,
    /// [`Error::Failed`](crate::Error::Failed) after a commit that could not be made durable.
    async fn compact(&self, revision: Revision) -> Result<()>;

    /// Returns the revision of the last acknowledged write, or a later one.
    ///
    /// # Errors
    /// Only those of each call.
    async fn current_revision(&self) -> Result<Revision>;

    /// Checks whether the store accepts writes at present, as far as it knows without a write.
    ///
    /// # Errors
    /// The reason why writes are refused or hang: [`Error::NoSpace`](crate::Error::NoSpace),
    /// [`Error::Slow`](crate::Error::Slow), [`Error::Failed`](crate::Error::Failed).
    fn check_writable(&self) -> Result<()> {
        Ok(())
    }

    /// Waits until the store will never accept a write again, and returns the reason.
    ///
    /// The process should exit then. By default the future never completes.
    async fn failed(&self) -> Error {
        std::future::pending().await
    }

    /// Finishes queued writes, flushes, ends all watches and releases the store.
    ///
    /// Every later call but this one fails with [`Error::Closed`](crate::Error::Closed).
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Backend`] when the flush fails, [`Error::Failed`] when a commit failed
    /// before. The store is closed nevertheless.
    async fn close(&self) -> Result<()>;
}
