//! What can go wrong in a store, in the terms its callers decide by.

use std::{fmt, path::PathBuf, sync::Arc};

use crate::Revision;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a store refused or failed.
///
/// It is `Clone` because one failed commit answers every writer that shared it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The revision is older than the history that is kept (etcd's `ErrCompacted`).
    #[error("required revision {requested} has been compacted; the compacted revision is {compacted}")]
    Compacted {
        /// The revision that was asked for.
        requested: Revision,
        /// Everything needed only before this revision is gone.
        compacted: Revision,
    },
    /// The revision does not exist yet (etcd's `ErrFutureRev`).
    #[error("required revision {requested} is a future revision; the current revision is {current}")]
    FutureRevision {
        /// The revision that was asked for.
        requested: Revision,
        /// The newest revision of the store.
        current: Revision,
    },
    /// The watcher did not read fast enough and was cut off. It can resume after the last revision it received.
    #[error("the watcher is too slow: more than {limit} bytes of events were waiting for it")]
    WatchTooSlow {
        /// The bytes of events that may wait for one watcher.
        limit: usize,
    },
    /// A write named no key.
    #[error("the key is empty")]
    EmptyKey,
    /// The store was closed while the call waited, or before it.
    #[error("the store is closed")]
    Closed,
    /// Another store has the directory open.
    #[error("{} is in use by another process or another store of this process", dir.display())]
    Locked {
        /// The directory.
        dir: PathBuf,
    },
    /// The directory holds something that is not a store of this program.
    #[error("{} does not hold a store of this program: {reason}", dir.display())]
    Foreign {
        /// The directory.
        dir: PathBuf,
        /// What was found in it.
        reason: String,
    },
    /// The store was written by a version of this program with another layout.
    #[error("{} has storage format {found}; this program reads format {supported}", dir.display())]
    UnsupportedFormat {
        /// The directory.
        dir: PathBuf,
        /// The format found.
        found: u32,
        /// The format of this program.
        supported: u32,
    },
    /// What is stored is damaged.
    #[error("stored data is corrupt: {}{reason}", KeyPrefix(key))]
    Corrupt {
        /// The key whose data is damaged, where one is known.
        key: Option<String>,
        /// What does not fit.
        reason: String,
    },
    /// A file is not a snapshot, or a damaged one, or cannot be read or written.
    #[error("snapshot {}: {reason}", file.display())]
    Snapshot {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A snapshot is restored only where nothing is.
    #[error("{place} already holds a store")]
    Occupied {
        /// The directory, or the etcd.
        place: String,
    },
    /// A value cannot be encrypted or decrypted as configured.
    #[error("{reason}")]
    Untransformable {
        /// The key it is stored under.
        key: String,
        /// What the transformer says.
        reason: String,
    },
    /// The disk is full, or nearly full: deletes are still taken, everything else is refused until there is room again.
    #[error("no space left for the store: {reason}")]
    NoSpace {
        /// How much is missing.
        reason: String,
    },
    /// One commit takes too long: the disk hangs.
    #[error("the store has been writing for {seconds} s without an end")]
    Slow {
        /// For how long the commit has been under way.
        seconds: u64,
    },
    /// The disk reported an error.
    #[error("the disk reported an error: {0}")]
    Io(#[source] Source),
    /// A commit could not be made durable. What the disk holds is uncertain, so the store takes no more writes until it
    /// is opened again (a second fsync after a failed one proves nothing).
    #[error("the store stopped taking writes after a failed commit: {0}")]
    Failed(#[source] Source),
    /// The database or the file system reported an error.
    #[error("{0}")]
    Backend(#[source] Source),
}

impl Error {
    /// Wraps an error of a backend.
    pub fn backend(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Backend(Source(Arc::new(error)))
    }

    /// Whether a commit that failed like this has certainly written nothing; after other failures it may have been written.
    pub fn wrote_nothing(&self) -> bool {
        matches!(self, Self::EmptyKey | Self::Untransformable { .. } | Self::NoSpace { .. })
    }

    /// A database that is damaged as a whole, with its file and what can be done.
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
            Some(SystemIoFailure) => Self::Io(Source(Arc::new(error))),
            _ => Self::backend(error),
        }
    }
}

/// The error underneath, shared so that [`Error`] can be cloned.
#[derive(Clone, Debug)]
pub struct Source(pub(crate) Arc<dyn std::error::Error + Send + Sync>);

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Source {
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
