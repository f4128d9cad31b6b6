//! Errors that prevent the start of the server or stop it.

use std::io;
use std::path::PathBuf;

/// A failure of the server. Failures of single requests are [`machinery::status::Status`] instead.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line is invalid; the text states the correction.
    #[error("{0}")]
    Options(String),
    /// The command line requests a text, such as the help; not a failure.
    #[error("{0}")]
    Print(String),
    /// A file of certificates, keys, or tokens cannot be read or written.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// The content of a file is invalid.
    #[error("{}: {why}", path.display())]
    Content { path: PathBuf, why: String },
    /// A certificate or key cannot be generated.
    #[error("making certificates: {0}")]
    Certificate(#[from] rcgen::Error),
    /// TLS cannot be configured.
    #[error("TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// The address is in use or does not belong to this host.
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
