//! Errors of requests to other API servers. Their texts are upstream's, because they become messages
//! of conditions.

use http::Uri;

/// An error of a request to another API server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request cannot be sent, or has no response.
    #[error(transparent)]
    Call(#[from] webhook::Error),
    /// The server does not respond to a probe.
    #[error("failing or missing response from {uri}: {source}")]
    NoResponse { uri: Uri, source: webhook::Error },
    /// The server responds to a probe with an error.
    #[error("failing or missing response from {uri}: bad status from {uri}: {code}")]
    BadStatus { uri: Uri, code: u16 },
    /// The task of a probe ended early.
    #[error(transparent)]
    Probe(#[from] tokio::task::JoinError),
    /// A peer responds to a discovery request with an error.
    #[error("discovery request failed with status: {code}")]
    Discovery { code: u16 },
    /// A peer sends a discovery document that is not JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A peer sends another document than an aggregated discovery.
    #[error("error decoding discovery response: not an APIGroupDiscoveryList")]
    NotDiscovery,
}
