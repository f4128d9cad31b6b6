//! The `Retry-After` of rejected requests, which grows with the rejections.
//!
//! Upstream: `DroppedRequestsTracker`, after the congestion control of TCP.

use std::collections::VecDeque;
use std::time::Duration;

/// The maximum of `Retry-After`, in seconds.
const MAX_RETRY_AFTER: u64 = 32;

/// Counts the rejected requests of a level.
#[derive(Debug)]
pub struct DroppedRequestsTracker {
    /// The current second and its rejections, and those of past seconds.
    current: (u64, u64),
    history: VecDeque<(u64, u64)>,
    retry_after: u64,
    raised_at: Option<u64>,
}

impl Default for DroppedRequestsTracker {
    fn default() -> Self {
        DroppedRequestsTracker { current: (0, 0), history: VecDeque::new(), retry_after: 1, raised_at: None }
    }
}

impl DroppedRequestsTracker {
    /// Records a rejection, and returns the seconds after which the client should retry.
    pub fn record(&mut self, now: Duration) -> u64 {
        let second = now.as_secs();
        if self.current.0 == second {
            self.current.1 += 1;
            return self.retry_after;
        }
        let before = std::mem::replace(&mut self.current, (second, 1));
        self.history.push_back(before);
        let oldest = second.saturating_sub((2 * self.retry_after).min(MAX_RETRY_AFTER));
        self.history.retain(|(at, _)| *at >= oldest);
        self.adjust(second);
        self.retry_after
    }

    /// Doubles the time after many rejections, and decrements it after few.
    fn adjust(&mut self, second: u64) {
        let since = second.saturating_sub(self.retry_after);
        let recent: u64 = self.history.iter().filter(|(at, _)| *at >= since).map(|(_, count)| count).sum();
        let may_rise = self.raised_at.is_none_or(|raised| second - raised >= self.retry_after);
        if may_rise && recent >= 3 * self.retry_after {
            self.retry_after = (2 * self.retry_after).min(MAX_RETRY_AFTER);
            self.raised_at = Some(second);
        } else if recent < self.retry_after && self.retry_after > 1 {
            self.retry_after -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_grows_with_rejections() {
        let mut dropped = DroppedRequestsTracker::default();
        let mut second = |second: u64, count: usize| {
            (0..count).map(|_| dropped.record(Duration::from_secs(second))).last().unwrap_or_default()
        };
        assert_eq!((second(1, 1), second(2, 1)), (1, 1));
        assert_eq!((second(3, 10), second(4, 10), second(5, 10), second(6, 10)), (1, 2, 2, 4));
        assert_eq!((7..80).map(|at| second(at, 100)).last(), Some(MAX_RETRY_AFTER));
        assert_eq!((second(200, 1), second(201, 1)), (31, 30));
    }
}
