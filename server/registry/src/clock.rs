//! The clock, injected so that tests can set the time.

use std::time::{SystemTime, UNIX_EPOCH};

use machinery::scalar::Time;

/// A source of the current time.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Time;
}

/// The clock of the machine.
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Time::from_unix(since.as_secs() as i64)
    }
}
