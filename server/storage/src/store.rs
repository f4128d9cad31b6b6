//! The contract every store keeps; `tests/contract` states it as facts.

use async_trait::async_trait;
use bytes::Bytes;

use crate::{Error, KeyRange, Result, Txn, TxnOutcome, Watch};

/// A revision of the whole store; each committed write makes the next one. An empty store is at revision 1.
pub type Revision = u64;

/// A key with its value and history (mvccpb's `KeyValue`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyValue {
    /// The key.
    pub key: Bytes,
    /// The value, in an allocation of its own: keeping it keeps nothing else alive.
    pub value: Bytes,
    /// The revision of the write that created the key.
    pub create_revision: Revision,
    /// The revision of the last write.
    pub mod_revision: Revision,
    /// How many times the key was written since it was created; 1 after the creation.
    pub version: u64,
    /// Whether the value should be written again though nothing in it changes: it is encrypted with a key that is being
    /// replaced, or not at all (`value.Read.TransformFromStorage`).
    pub stale: bool,
    /// Why the value, which is as it is stored, cannot be read: it is encrypted in a way that nobody here knows.
    pub damage: Option<Box<str>>,
}

/// The answer to [`Store::get`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetResponse {
    /// The key, if it exists.
    pub kv: Option<KeyValue>,
    /// The current revision of the store when the answer was made, whatever revision was asked for.
    pub revision: Revision,
}

/// What to list besides the range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// How many keys to return at most; 0 is no limit.
    pub limit: usize,
    /// The revision to read at; `None` or 0 is the current one.
    pub revision: Option<Revision>,
}

/// The answer to [`Store::list`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListResponse {
    /// The keys in order.
    pub kvs: Vec<KeyValue>,
    /// Whether the limit left keys out.
    pub more: bool,
    /// How many keys the range has at the revision, whatever the limit.
    pub count: u64,
    /// The current revision of the store when the answer was made, whatever revision was asked for.
    pub revision: Revision,
}

/// The answer to [`Store::count`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountResponse {
    /// How many keys the range has.
    pub count: u64,
    /// The revision at which they were counted.
    pub revision: Revision,
}

/// A store of keys with history, in etcd's terms.
///
/// Writes are linearizable and durable when they are acknowledged; a read sees every write acknowledged before it
/// began. A call whose future is dropped may still take effect.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Reads a key at a revision; `None` or 0 is the current one.
    ///
    /// # Errors
    /// [`Error::Compacted`](crate::Error::Compacted) for a revision below the compacted one,
    /// [`Error::FutureRevision`](crate::Error::FutureRevision) for one that does not exist yet.
    async fn get(&self, key: &[u8], revision: Option<Revision>) -> Result<GetResponse>;

    /// Reads the keys of a range in order. To continue a list that was cut by its limit, ask for the rest of the range
    /// ([`KeyRange::after`]) at the revision of the first answer.
    ///
    /// # Errors
    /// As [`Store::get`].
    async fn list(&self, range: KeyRange, options: ListOptions) -> Result<ListResponse>;

    /// Counts the keys of a range at the current revision without reading values.
    async fn count(&self, range: KeyRange) -> Result<CountResponse>;

    /// Compares and writes one key. A failed comparison is an outcome, not an error.
    async fn commit(&self, txn: Txn) -> Result<TxnOutcome>;

    /// Watches a range from a revision on, that revision included; `None` or 0 is from now on. A revision that does not
    /// exist yet is waited for.
    ///
    /// # Errors
    /// [`Error::Compacted`](crate::Error::Compacted), from this call or from the stream, for a revision at or below the
    /// compacted one. [`Error::WatchTooSlow`](crate::Error::WatchTooSlow) from the stream when events pile up unread.
    async fn watch(&self, range: KeyRange, from: Option<Revision>) -> Result<Watch>;

    /// Has every open watch that is up to date deliver its progress (etcd's `WatchProgressRequest`).
    async fn request_progress(&self) -> Result<()>;

    /// Forgets what can only be seen at revisions below `revision`.
    ///
    /// # Errors
    /// [`Error::Compacted`](crate::Error::Compacted) when that is already so,
    /// [`Error::FutureRevision`](crate::Error::FutureRevision) when the revision does not exist yet.
    async fn compact(&self, revision: Revision) -> Result<()>;

    /// The revision of the last acknowledged write, or a later one.
    async fn current_revision(&self) -> Result<Revision>;

    /// Whether writes are taken at this moment, as far as the store knows by itself.
    ///
    /// # Errors
    /// Why they are refused or stuck: [`Error::NoSpace`](crate::Error::NoSpace), [`Error::Slow`](crate::Error::Slow),
    /// [`Error::Failed`](crate::Error::Failed).
    fn check_writable(&self) -> Result<()> {
        Ok(())
    }

    /// Waits until the store will never take a write again, and says why. The process should end then.
    async fn failed(&self) -> Error {
        std::future::pending().await
    }

    /// Finishes the writes that wait, flushes, ends all watches and releases the store. Every later call fails with
    /// [`Error::Closed`](crate::Error::Closed), except this one.
    async fn close(&self) -> Result<()>;
}
