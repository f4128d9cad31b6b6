//! What keeps the server from starting or makes it stop.

use std::io;
use std::path::PathBuf;

/// A failure of the front. Failures of single requests are [`machinery::status::Status`] instead.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line is wrong; the text says what to write instead.
    #[error("{0}")]
    Options(String),
    /// The command line asked for a text, such as the help; not a failure.
    #[error("{0}")]
    Print(String),
    /// A file of certificates, keys or tokens could not be read or written.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// A file is there, but not what it should be.
    #[error("{}: {why}", path.display())]
    Content { path: PathBuf, why: String },
    /// A certificate or key could not be made.
    #[error("making certificates: {0}")]
    Certificate(#[from] rcgen::Error),
    /// TLS could not be set up.
    #[error("TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// The address is taken or not ours.
    #[error("listening on {address}: {source}")]
    Listen { address: String, source: io::Error },
}

impl Error {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Error::File { path, source }
    }

    pub(crate) fn content(path: impl Into<PathBuf>, why: impl Into<String>) -> Self {
        Error::Content { path: path.into(), why: why.into() }
    }
}
