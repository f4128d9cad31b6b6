//! A SPDY/3.1 client for kubelets. It opens all streams itself. It has no flow control, like
//! kubelets (`moby/spdystream`).

mod connection;
mod dictionary;
mod frame;

use std::time::Duration;

pub(crate) use connection::{SpdyConnection, Stream, StreamWriter};

/// The value of the `Upgrade` header.
pub(crate) const PROTOCOL: &str = "SPDY/3.1";
/// Timeout for a kubelet to accept a stream.
const ACCEPT_TIMEOUT: Duration = Duration::from_secs(30);

/// Errors of a stream or its connection.
#[derive(Debug, thiserror::Error)]
pub enum SpdyError {
    #[error("Timeout waiting for reply")]
    Timeout,
    #[error("stream reset")]
    Reset,
    #[error("connection closed")]
    Closed,
    #[error("compressing headers: {0}")]
    Headers(&'static str),
}
