//! Errors of this crate that are not a response to a client.

use machinery::status::Status;

/// An error of a document or of a peer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A bundle of OpenAPI documents is not gzip.
    #[error("the OpenAPI bundle cannot be unpacked: {0}")]
    Unpack(#[source] std::io::Error),
    /// A bundle of OpenAPI documents is not JSON of a catalog.
    #[error("the OpenAPI bundle cannot be read: {0}")]
    Bundle(#[source] serde_json::Error),
    /// This server has no peers.
    #[error("{server} is not known to this server")]
    UnknownPeer { server: String },
    /// The addresses of the peers cannot be read.
    #[error(transparent)]
    PeerStore(#[from] Status),
    /// A peer publishes no address, or no longer exists.
    #[error("it does not say where it is, or has ended")]
    NoPeerAddress { server: String },
}
