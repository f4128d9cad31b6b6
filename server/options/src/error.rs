//! Errors of options, and of files that options name.

use std::io;
use std::path::PathBuf;

/// An invalid option, or an unusable file that an option names.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line or a configuration is invalid; the text states the correction.
    #[error("{0}")]
    Invalid(String),
    /// The command line requests a text, such as the help; not a failure.
    #[error("{0}")]
    Print(String),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// The content of a file is invalid.
    #[error("{}: {why}", path.display())]
    Content { path: PathBuf, why: String },
    /// A kubeconfig is unusable.
    #[error(transparent)]
    Kubeconfig(#[from] webhook::Error),
}

impl Error {
    /// Makes the error of a file that cannot be read or written.
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Error::File { path, source }
    }

    /// Makes the error of a file with invalid content.
    pub fn content(path: impl Into<PathBuf>, why: impl Into<String>) -> Self {
        Error::Content { path: path.into(), why: why.into() }
    }
}
