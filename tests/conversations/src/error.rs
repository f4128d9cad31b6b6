//! Errors of reading recordings and of talking to a server.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why recordings cannot be read or written, or why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system or the decoder reports.
        source: std::io::Error,
    },
    /// A file, or a line of one, that is not in the format of recordings.
    #[error("{}: {why}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The problem, with the line where there is one.
        why: String,
    },
    /// A kubeconfig, or a connection that cannot be made.
    #[error("{0}")]
    Dial(#[from] dial::error::Error),
    /// A connection that ended before the end of the answer.
    #[error("{0}")]
    Http(#[from] hyper::Error),
    /// A request that cannot be written as HTTP.
    #[error("{0}")]
    Request(#[from] http::Error),
    /// An answer in gzip that cannot be decompressed.
    #[error("the answer cannot be decompressed: {0}")]
    Compression(std::io::Error),
    /// A document of the server that is not JSON.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// An answer that did not come.
    #[error("no answer within {} s", .0.as_secs())]
    Timeout(Duration),
    /// An answer to a request of the program's own that is not a success.
    #[error("{path}: status {status}")]
    Status {
        /// The path of the request.
        path: String,
        /// The status of the answer.
        status: u16,
    },
    /// A request that uses a part of an earlier answer which that answer lacks.
    #[error("the request refers to something that an earlier answer lacks: {0}")]
    Reference(String),
}

impl Error {
    /// An error of the file system, with the file.
    pub fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Error::File { path: path.into(), source }
    }

    /// A file that is not in the format of recordings.
    pub fn format(path: &Path, why: impl ToString) -> Self {
        Error::Format { path: path.into(), why: why.to_string() }
    }
}
