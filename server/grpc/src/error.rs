//! Errors of a client without a connection. Those of calls are a [`tonic::Status`].

use tonic::transport;

use crate::failure::innermost;

/// Why there is no client or no connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The endpoint is malformed.
    #[error("{source}")]
    Endpoint { endpoint: String, source: transport::Error },
    /// The server is unreachable.
    #[error("{}", innermost(source))]
    Unreachable { endpoint: String, source: transport::Error },
}
