//! Errors that prevent the start of the server or stop it.

use std::io;
use std::path::PathBuf;

/// A failure of the server. Failures of single requests are [`machinery::status::Status`] instead.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An option, or a file that an option names, is invalid.
    #[error(transparent)]
    Options(#[from] options::Error),
    /// The configuration of authentication is invalid.
    #[error(transparent)]
    Authentication(#[from] authn::Error),
    /// The configuration of authorization is invalid.
    #[error(transparent)]
    Authorization(#[from] authz::Error),
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
    /// Makes the error of an invalid option or combination of options.
    pub(crate) fn invalid(why: String) -> Self {
        options::Error::Invalid(why).into()
    }

    /// Makes the error of a file that cannot be read or written.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let failed = options::Error::file(path);
        move |source| failed(source).into()
    }

    /// Makes the error of a file with invalid content.
    pub(crate) fn content(path: impl Into<PathBuf>, why: impl Into<String>) -> Self {
        options::Error::content(path, why).into()
    }
}
