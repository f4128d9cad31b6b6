//! The only transaction of the store: compares the modification revision of a key, then writes that key.

use std::num::NonZeroU64;

use bytes::Bytes;

use crate::{KeyValue, Revision};

/// A comparison and a write of one key.
///
/// Kubernetes needs no more of etcd's `Txn`. Each committed write has a revision of its own.
///
/// ```
/// use storage::{Op, Txn};
///
/// let create = Txn::create("/registry/things/a", "value");
/// assert_eq!(create.compare, Some(0));
/// let lease = Txn::put("/registry/leases/a", "value").with_ttl(3600);
/// assert!(matches!(lease.op, Op::Put { ttl_seconds: Some(_), .. }));
/// let delete = Txn::delete("/registry/things/a").when(7);
/// assert_eq!((delete.compare, delete.op), (Some(7), Op::Delete));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Txn {
    /// The key that is compared and written.
    pub key: Bytes,
    /// The required modification revision. `Some(0)` means that the key must not exist, `None` disables
    /// the comparison.
    pub compare: Option<Revision>,
    /// The write, if the comparison succeeds.
    pub op: Op,
}

/// The write of a [`Txn`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Store a value.
    Put {
        /// The value.
        value: Bytes,
        /// Time in seconds after which the key is deleted, unless it is written again before.
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

    /// Replaces the value of a key with this modification revision.
    pub fn update(key: impl Into<Bytes>, mod_revision: Revision, value: impl Into<Bytes>) -> Self {
        Self::put(key, value).when(mod_revision)
    }

    /// Stores a value unconditionally.
    pub fn put(key: impl Into<Bytes>, value: impl Into<Bytes>) -> Self {
        Self { key: key.into(), compare: None, op: Op::Put { value: value.into(), ttl_seconds: None } }
    }

    /// Removes a key unconditionally. Removing a missing key succeeds and takes no revision.
    pub fn delete(key: impl Into<Bytes>) -> Self {
        Self { key: key.into(), compare: None, op: Op::Delete }
    }

    /// Makes the write conditional on the modification revision of the key.
    ///
    /// 0 means that the key must not exist.
    #[must_use]
    pub fn when(mut self, mod_revision: Revision) -> Self {
        self.compare = Some(mod_revision);
        self
    }

    /// Gives a put a lease: the key is deleted after this number of seconds.
    ///
    /// 0 means no lease. Deletes ignore it.
    #[must_use]
    pub fn with_ttl(mut self, seconds: u64) -> Self {
        if let Op::Put { ttl_seconds, .. } = &mut self.op {
            *ttl_seconds = NonZeroU64::new(seconds);
        }
        self
    }
}

/// The result of a [`Txn`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TxnOutcome {
    /// The write is durable.
    Committed {
        /// The revision of the write, or the current revision when the key to delete did not exist.
        revision: Revision,
        /// The deleted key.
        deleted: Option<KeyValue>,
    },
    /// The comparison failed and nothing was written.
    Conflict {
        /// The revision at which the comparison failed.
        revision: Revision,
        /// The key at that revision.
        current: Option<KeyValue>,
    },
}

impl TxnOutcome {
    /// Returns the revision of the store at the decision on the transaction.
    pub fn revision(&self) -> Revision {
        match self {
            Self::Committed { revision, .. } | Self::Conflict { revision, .. } => *revision,
        }
    }
}
