//! Errors of proxied requests, with upstream's texts, because clients see them.

use machinery::status::Status;

use crate::spdy::SpdyError;

/// Why a connection is not upgraded, or a remote command has no outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server of an upgrade is unreachable.
    #[error("error dialing backend: {}", .0.cause())]
    Unreachable(#[source] webhook::Error),
    /// The server responds to an upgrade with a status code below 400 other than 101.
    #[error("invalid upgrade response: status code {0}")]
    Refused(u16),
    /// The location of a kubelet has no URI.
    #[error(transparent)]
    Location(#[from] Status),
    /// A kubelet is unreachable.
    #[error("error sending request: {0}")]
    Send(#[source] webhook::Error),
    /// A kubelet redirects the request.
    #[error("error sending request: Post \"{to}\": redirect not allowed")]
    Redirect { to: String },
    /// A kubelet rejects SPDY; `why` is its text.
    #[error("unable to upgrade connection: {why}")]
    NoSpdy { why: String },
    /// A kubelet rejects SPDY, and its text cannot be read.
    #[error("unable to upgrade connection: unable to read error from server response")]
    UnreadableRefusal,
    /// The connection to a kubelet ends before it is upgraded.
    #[error("unable to upgrade connection: {0}")]
    Upgrade(#[source] hyper::Error),
    /// The SPDY connection to a kubelet fails.
    #[error(transparent)]
    Spdy(#[from] SpdyError),
    /// The outcome of a command is not JSON.
    #[error("{source} in {text:?}")]
    Outcome { text: String, source: serde_json::Error },
    /// The outcome of a command is neither a success nor a failure.
    #[error("unknown error")]
    UnknownOutcome,
    /// The exit code of a command has no details.
    #[error("details must be set")]
    NoDetails,
    /// The details of an exit code do not have it.
    #[error("no ExitCode cause given")]
    NoExitCode,
    /// An exit code is not a number of a byte.
    #[error("invalid exit code value {code:?}")]
    ExitCode { code: String },
}
