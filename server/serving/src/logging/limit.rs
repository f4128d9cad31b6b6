//! Limits how many lines an event that clients cause may write into the log.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lines are counted over so long.
const PERIOD: Duration = Duration::from_secs(10);
/// So many lines are written in a period.
const LINES: u32 = 5;

/// Lets a few lines a period through, and counts the others.
#[derive(Default)]
pub(crate) struct LogLimit(Mutex<State>);

#[derive(Default)]
struct State {
    began: Option<Instant>,
    lines: u32,
    unlogged: u64,
}

impl LogLimit {
    /// Whether the event is to be logged: then how many events before it were not.
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
    fn a_period_has_a_few_lines() {
        let (limit, begin) = (LogLimit::default(), Instant::now());
        let admitted = |second| limit.admit_at(begin + Duration::from_secs(second));
        assert_eq!((0..100).filter_map(|_| admitted(0)).collect::<Vec<_>>(), [0; 5]);
        assert_eq!(admitted(9), None);
        assert_eq!((admitted(10), admitted(11)), (Some(96), Some(0)));
    }
}
