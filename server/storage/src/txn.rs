//! The one transaction of the store: compare the modification revision of a key, then write that key.

use std::num::NonZeroU64;

use bytes::Bytes;

use crate::{KeyValue, Revision};

/// A compare and a write of one key.
///
/// Kubernetes needs no more of etcd's `Txn` than this; each committed write is one revision of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Txn {
    /// The key that is compared and written.
    pub key: Bytes,
    /// The modification revision the key must have; `Some(0)` means that it must not exist, `None` that anything goes.
    pub compare: Option<Revision>,
    /// What to write when the comparison holds.
    pub op: Op,
}

/// The write of a [`Txn`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Store a value.
    Put {
        /// The value.
        value: Bytes,
        /// After how many seconds the key is deleted, unless it is written again first.
        ttl_seconds: Option<NonZeroU64>,
    },
    /// Remove the key.
    Delete,
}

impl Txn {
    /// Stores a value under a key that must not exist.
    pub fn create(key: impl Into<Bytes>, value: impl Into<Bytes>) -> Self {
        Self::put(key, value).when(0)
    }

    /// Replaces the value of a key whose last write is `mod_revision`.
    pub fn update(key: impl Into<Bytes>, mod_revision: Revision, value: impl Into<Bytes>) -> Self {
        Self::put(key, value).when(mod_revision)
    }

    /// Stores a value whatever was there.
    pub fn put(key: impl Into<Bytes>, value: impl Into<Bytes>) -> Self {
        Self { key: key.into(), compare: None, op: Op::Put { value: value.into(), ttl_seconds: None } }
    }

    /// Removes a key whatever was there; removing a key that does not exist succeeds and takes no revision.
    pub fn delete(key: impl Into<Bytes>) -> Self {
        Self { key: key.into(), compare: None, op: Op::Delete }
    }

    /// Makes the write depend on the modification revision of the key; 0 means that it must not exist.
    #[must_use]
    pub fn when(mut self, mod_revision: Revision) -> Self {
        self.compare = Some(mod_revision);
        self
    }

    /// Gives a put a lease: the key is deleted after so many seconds. 0 means no lease; a delete has none.
    #[must_use]
    pub fn with_ttl(mut self, seconds: u64) -> Self {
        if let Op::Put { ttl_seconds, .. } = &mut self.op {
            *ttl_seconds = NonZeroU64::new(seconds);
        }
        self
    }
}

/// What became of a [`Txn`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TxnOutcome {
    /// The write is durable.
    Committed {
        /// The revision of the write, or the current one when there was nothing to delete.
        revision: Revision,
        /// What a delete removed.
        deleted: Option<KeyValue>,
    },
    /// The comparison failed and nothing was written.
    Conflict {
        /// The revision at which the comparison failed.
        revision: Revision,
        /// The key as it was at that revision.
        current: Option<KeyValue>,
    },
}

impl TxnOutcome {
    /// The revision of the store when the transaction was decided.
    pub fn revision(&self) -> Revision {
        match self {
            Self::Committed { revision, .. } | Self::Conflict { revision, .. } => *revision,
        }
    }
}
