//! The time, injected so that tests can set it.

use std::time::{SystemTime, UNIX_EPOCH};

use machinery::scalar::Time;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> Time;
}

/// The machine's clock.
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Time::from_unix(since.as_secs() as i64)
    }
}
