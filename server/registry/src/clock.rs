//! The clock, injected so that tests can set the time.

use std::time::SystemTime;

use machinery::scalar::{MicroTime, Time};

/// A source of the current time.
pub trait Clock: Send + Sync {
    /// Returns the current time, in microseconds.
    fn micro_now(&self) -> MicroTime;

    /// Returns the current time, in seconds.
    fn now(&self) -> Time {
        self.micro_now().into()
    }
}

/// The clock of the machine.
pub struct SystemClock;

impl Clock for SystemClock {
    fn micro_now(&self) -> MicroTime {
        MicroTime::from(SystemTime::now())
    }
}
