//! How many connections are served, and for how long.

use std::time::Duration;

use super::values::Values;

/// Limits of connections; 0 leaves the choice to the server, which derives it from the limit of open files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionOptions {
    /// All connections.
    pub max: usize,
    /// Connections of one client address.
    pub max_per_address: usize,
    /// Connections on which no request has been authenticated.
    pub max_unauthenticated: usize,
    /// The age at which a connection ends once its requests have been answered; none without a limit.
    pub max_age: Option<Duration>,
}

impl Values {
    pub(super) fn connections(&self) -> Result<ConnectionOptions, String> {
        Ok(ConnectionOptions {
            max: self.number("max-connections")?,
            max_per_address: self.number("max-connections-per-address")?,
            max_unauthenticated: self.number("max-unauthenticated-connections")?,
            max_age: Some(self.duration("max-connection-age")?).filter(|age| !age.is_zero()),
        })
    }
}
