//! SPDY/3.1, as much of it as a client of kubelets needs: streams that this side opens, without flow control, which
//! kubelets (`moby/spdystream`) have not.

mod connection;
mod dictionary;
mod frame;

use std::time::Duration;

pub(crate) use connection::{Connection, Stream, Writer};

/// What `Upgrade` says.
pub(crate) const PROTOCOL: &str = "SPDY/3.1";
/// How long a kubelet may take to accept a stream.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why a stream or its connection is of no use any more.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpdyError {
    #[error("Timeout waiting for reply")]
    Timeout,
    #[error("stream reset")]
    Reset,
    #[error("connection closed")]
    Closed,
    #[error("compressing headers: {0}")]
    Headers(&'static str),
}
