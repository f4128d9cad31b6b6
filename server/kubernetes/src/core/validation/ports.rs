//! Protocols of ports.

/// What is spoken on a port.
pub const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
