//! The work of a request: seats times time.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

/// Work in seats times nanoseconds.
///
/// At 128 bits it never overflows, so that virtual time needs no epochs (upstream has 64 bits).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeatSeconds(i128);

impl SeatSeconds {
    pub const MAX: SeatSeconds = SeatSeconds(i128::MAX);

    /// The work of `seats` for `time`.
    pub fn new(seats: u32, time: Duration) -> Self {
        SeatSeconds(i128::from(seats) * nanos(time))
    }

    /// Divides the work into equal parts.
    pub fn shared_by(self, parts: usize) -> Self {
        SeatSeconds(self.0 / parts.max(1) as i128)
    }

    /// How long the work takes on `seats`.
    pub fn on_seats(self, seats: u32) -> Duration {
        let nanos = self.0.max(0) / i128::from(seats.max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// In seat-seconds, for metrics.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

fn nanos(time: Duration) -> i128 {
    i128::try_from(time.as_nanos()).unwrap_or(i128::MAX)
}

impl Add for SeatSeconds {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        SeatSeconds(self.0 + other.0)
    }
}

impl Sub for SeatSeconds {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        SeatSeconds(self.0 - other.0)
    }
}

impl AddAssign for SeatSeconds {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for SeatSeconds {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

/// Formats as in the debug documents: `1.50000000ss`.
impl fmt::Display for SeatSeconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, units) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs() / 10);
        write!(f, "{sign}{}.{:08}ss", units / 100_000_000, units % 100_000_000)
    }
}

/// The expected work of a request: seats while it runs, and seats for some time afterwards
/// (upstream: `WorkEstimate`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkEstimate {
    /// Seats while the request runs.
    pub initial_seats: u32,
    /// Seats afterwards, while watchers are notified of the change.
    pub final_seats: u32,
    /// The duration of the final work. The client does not wait for it.
    pub additional_latency: Duration,
}

impl WorkEstimate {
    /// A request that takes seats only while it runs.
    pub const fn seats(seats: u32) -> Self {
        WorkEstimate { initial_seats: seats, final_seats: 0, additional_latency: Duration::ZERO }
    }

    /// The most seats at any time; the request holds that many from beginning to end.
    pub fn max_seats(&self) -> u32 {
        self.initial_seats.max(self.final_seats)
    }

    /// The work after the response.
    pub fn final_work(&self) -> SeatSeconds {
        SeatSeconds::new(self.final_seats, self.additional_latency)
    }

    /// The same final work on at most `seats` seats.
    pub fn narrowed(self, seats: u32) -> Self {
        if self.final_seats <= seats {
            return self;
        }
        WorkEstimate { final_seats: seats, additional_latency: self.final_work().on_seats(seats), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_seats_times_time() {
        let work = SeatSeconds::new(3, Duration::from_millis(500));
        assert_eq!((work.to_string().as_str(), work.as_f64()), ("1.50000000ss", 1.5));
        assert_eq!(work.on_seats(2), Duration::from_millis(750));
        assert_eq!((SeatSeconds::default() - work).to_string(), "-1.50000000ss");
        let estimate =
            WorkEstimate { initial_seats: 1, final_seats: 8, additional_latency: Duration::from_millis(5) }.narrowed(2);
        assert_eq!((estimate.final_seats, estimate.additional_latency), (2, Duration::from_millis(20)));
    }
}
