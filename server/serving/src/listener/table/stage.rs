//! The stages of a connection.

/// The stages of a connection, in chronological order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionStage {
    Handshake,
    Unauthenticated,
    Authenticated,
    /// The connection uses another protocol after an upgrade, and is not evicted.
    Upgraded,
}
