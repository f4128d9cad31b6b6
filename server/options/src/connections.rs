//! Flags of connection limits.

use std::time::Duration;

use crate::error::FlagError;
use crate::values::FlagValues;

/// Connection limits; 0 means a default derived from the limit of open files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionOptions {
    /// All connections.
    pub max: usize,
    /// Connections per client address.
    pub max_per_address: usize,
    /// Connections without an authenticated request.
    pub max_unauthenticated: usize,
    /// The age at which a connection is closed once its requests are complete; `None` means no
    /// limit.
    pub max_age: Option<Duration>,
}

impl FlagValues {
    pub(super) fn connections(&self) -> Result<ConnectionOptions, FlagError> {
        Ok(ConnectionOptions {
            max: self.number("max-connections")?,
            max_per_address: self.number("max-connections-per-address")?,
            max_unauthenticated: self.number("max-unauthenticated-connections")?,
            max_age: Some(self.duration("max-connection-age")?).filter(|age| !age.is_zero()),
        })
    }
}
