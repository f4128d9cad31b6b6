//! Limits the log lines of an event that clients can cause.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The period over which lines are counted.
const PERIOD: Duration = Duration::from_secs(10);
/// The maximum number of lines in a period.
const LINES: u32 = 5;

/// Admits a few lines per period, and counts the others.
#[derive(Default)]
pub struct LogLimit(Mutex<State>);

#[derive(Default)]
struct State {
    began: Option<Instant>,
    lines: u32,
    unlogged: u64,
}

impl LogLimit {
    /// Returns `None` if the event is not to be logged, or else the number of unlogged events
    /// before it.
    pub fn admit(&self) -> Option<u64> {
        self.admit_at(Instant::now())
    }

    fn admit_at(&self, now: Instant) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.began.is_none_or(|began| now.duration_since(began) >= PERIOD) {
            (state.began, state.lines) = (Some(now), 0);
        }
        if state.lines == LINES {
            state.unlogged += 1;
            return None;
        }
        state.lines += 1;
        Some(std::mem::take(&mut state.unlogged))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_lines_per_period() {
        let (limit, begin) = (LogLimit::default(), Instant::now());
        let admitted = |second| limit.admit_at(begin + Duration::from_secs(second));
        assert_eq!((0..100).filter_map(|_| admitted(0)).collect::<Vec<_>>(), [0; 5]);
        assert_eq!(admitted(9), None);
        assert_eq!((admitted(10), admitted(11)), (Some(96), Some(0)));
    }
}
