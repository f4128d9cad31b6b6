//! Errors of the egress selector.

use http::uri::InvalidUri;
use machinery::field_error::FieldError;

use super::{DocumentError, FileError};

/// The reason why an EgressSelectorConfiguration is rejected; the texts are upstream's.
#[derive(Debug, thiserror::Error)]
pub enum EgressError {
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// Fields are invalid.
    #[error("{}", joined(.0))]
    Fields(Vec<FieldError>),
    #[error("a proxy to etcd is not supported yet: see docs/status.md")]
    EtcdProxy,
    #[error("invalid proxy server url {url:?}: {source}")]
    ProxyUrl { url: String, source: InvalidUri },
    /// A file of keys or certificates cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// Keys or certificates are unusable.
    #[error(transparent)]
    Proxy(#[from] webhook::Error),
}

/// One error as it is, several in brackets.
fn joined(errors: &[FieldError]) -> String {
    match errors {
        [one] => one.to_string(),
        several => format!("[{}]", several.iter().map(FieldError::to_string).collect::<Vec<_>>().join(", ")),
    }
}
