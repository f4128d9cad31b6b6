//! Errors of a store, distinguished as far as callers handle them differently.

use std::{fmt, path::PathBuf, sync::Arc};

use crate::Revision;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of a store.
///
/// `Clone`, because one failed commit answers all writers of its group.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The revision is older than the retained history (etcd's `ErrCompacted`).
    #[error("required revision {requested} has been compacted; the compacted revision is {compacted}")]
    Compacted {
        /// The requested revision.
        requested: Revision,
        /// The compacted revision; only the history before it is lost.
        compacted: Revision,
    },
    /// The revision does not exist yet (etcd's `ErrFutureRev`).
    #[error("required revision {requested} is a future revision; the current revision is {current}")]
    FutureRevision {
        /// The requested revision.
        requested: Revision,
        /// The newest revision of the store.
        current: Revision,
    },
    /// The watch ended because its reader was too slow.
    ///
    /// It can resume after the last revision that it delivered.
    #[error("the watcher is too slow: more than {limit} bytes of events were waiting for it")]
    WatchTooSlow {
        /// Maximum size in bytes of the events queued for one watcher.
        limit: usize,
    },
    /// A write with `ignore_value` or `ignore_lease` needs a key that does not exist.
    #[error("the key does not exist")]
    KeyNotFound,
    /// The lease does not exist (etcd's `ErrLeaseNotFound`).
    #[error("the lease does not exist")]
    LeaseNotFound,
    /// A lease with this number exists already (etcd's `ErrLeaseExists`).
    #[error("the lease exists already")]
    LeaseExists,
    /// A transaction writes more keys than one revision can have.
    #[error("a transaction writes more than {limit} keys")]
    TooManyWrites {
        /// The largest number of keys.
        limit: u64,
    },
    /// A write has no key.
    #[error("the key is empty")]
    EmptyKey,
    /// The store was closed before or during the call.
    #[error("the store is closed")]
    Closed,
    /// Another store has the directory open.
    #[error("{} is in use by another process or another store of this process", dir.display())]
    Locked {
        /// The directory.
        dir: PathBuf,
    },
    /// The directory has contents that are not a store of this program.
    #[error("{} does not hold a store of this program: {reason}", dir.display())]
    Foreign {
        /// The directory.
        dir: PathBuf,
        /// The unexpected contents.
        reason: String,
    },
    /// The store was written by a version of this program with another table layout.
    #[error("{} has storage format {found}; this program reads format {supported}", dir.display())]
    UnsupportedFormat {
        /// The directory.
        dir: PathBuf,
        /// The format found.
        found: u32,
        /// The format of this program.
        supported: u32,
    },
    /// Stored data is damaged.
    #[error("stored data is corrupt: {}{reason}", KeyPrefix(key))]
    Corrupt {
        /// The damaged key, if known.
        key: Option<String>,
        /// What is inconsistent.
        reason: String,
    },
    /// A file is not a snapshot, is damaged, or cannot be read or written.
    #[error("snapshot {}: {reason}", file.display())]
    Snapshot {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The target of a restore already has a store.
    #[error("{place} already holds a store")]
    Occupied {
        /// The directory, or the etcd.
        place: String,
    },
    /// A value cannot be encrypted or decrypted as configured.
    #[error("{reason}")]
    Untransformable {
        /// The key of the value.
        key: String,
        /// The error of the transformer.
        reason: String,
    },
    /// The disk is full or nearly full.
    ///
    /// Deletes are still accepted; other writes are refused until space is free again.
    #[error("no space left for the store: {reason}")]
    NoSpace {
        /// How much space is missing.
        reason: String,
    },
    /// A commit takes too long: the disk hangs.
    #[error("the store has been writing for {seconds} s without an end")]
    Slow {
        /// The duration of the commit so far.
        seconds: u64,
    },
    /// The disk reported an error.
    #[error("the disk reported an error: {0}")]
    Io(#[source] SharedError),
    /// A commit could not be made durable.
    ///
    /// The contents of the disk are uncertain, so the store accepts no more writes until it is reopened.
    /// A successful fsync after a failed one proves nothing.
    #[error("the store stopped taking writes after a failed commit: {0}")]
    Failed(#[source] SharedError),
    /// The database or the file system reported an error.
    #[error("{0}")]
    Backend(#[source] SharedError),
}

impl Error {
    /// Wraps an error of a backend.
    pub fn backend(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Backend(SharedError(Arc::new(error)))
    }

    /// Returns whether a commit with this error certainly wrote nothing.
    ///
    /// After other errors it may have written.
    pub fn wrote_nothing(&self) -> bool {
        matches!(
            self,
            Self::EmptyKey
                | Self::KeyNotFound
                | Self::LeaseNotFound
                | Self::LeaseExists
                | Self::TooManyWrites { .. }
                | Self::Untransformable { .. }
                | Self::NoSpace { .. }
        )
    }

    /// Adds the file and a remedy to the error of a database that is damaged as a whole.
    pub(crate) fn of_file(self, path: &std::path::Path) -> Self {
        let remedy = "restore a snapshot into an empty folder, or move this one away to begin with nothing";
        match self {
            Self::Corrupt { key: None, reason } => {
                Self::Corrupt { key: None, reason: format!("{}: {reason}; {remedy}", path.display()) }
            }
            other => other,
        }
    }

    pub(crate) fn corrupt(key: &[u8], reason: impl Into<String>) -> Self {
        Self::Corrupt { key: Some(key.escape_ascii().to_string()), reason: reason.into() }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseCorrupt, DiskFull, NotADatabase, SystemIoFailure};
        match error.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => Self::Corrupt { key: None, reason: error.to_string() },
            Some(DiskFull) => Self::NoSpace { reason: "the disk is full".into() },
            Some(SystemIoFailure) => Self::Io(SharedError(Arc::new(error))),
            _ => Self::backend(error),
        }
    }
}

/// The underlying error, shared so that [`Error`] can be cloned.
#[derive(Clone, Debug)]
pub struct SharedError(pub(crate) Arc<dyn std::error::Error + Send + Sync>);

impl fmt::Display for SharedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for SharedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

struct KeyPrefix<'a>(&'a Option<String>);

impl fmt::Display for KeyPrefix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |key| write!(f, "{key}: "))
    }
}
