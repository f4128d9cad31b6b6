//! Counters of the watch cache, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A monotonic counter.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds a number to the counter.
    pub fn add(&self, number: usize) {
        self.0.fetch_add(number as u64, Ordering::Relaxed);
    }

    /// Returns the current value.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counters of one resource's cache.
#[derive(Debug, Default)]
pub struct CacheCounts {
    /// How often all objects were read from the store.
    pub fillings: Counter,
    /// Changes that were applied and offered to watchers.
    pub changes: Counter,
    /// Objects in the initial state of watches.
    pub initial: Counter,
    /// Watches that ended because their readers were too slow.
    pub cut_off: Counter,
    /// How long reads waited for the cache to become fresh enough.
    pub waits: Waits,
    /// Lists of the latest state that the cache answered.
    pub consistent: Counter,
    /// Lists of the latest state that the store answered, because the cache lagged.
    pub fallbacks: Counter,
}

/// A histogram of durations.
#[derive(Debug, Default)]
pub struct Waits {
    /// A count per bound; the last one counts the durations above all bounds.
    counts: [Counter; Waits::BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

impl Waits {
    /// Upper bounds of the buckets in seconds.
    pub const BOUNDS: [f64; 13] = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0];

    /// Records a duration.
    pub fn observe(&self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        let place = Waits::BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(Waits::BOUNDS.len());
        self.counts[place].add(1);
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Returns the number of durations up to each bound, and in total.
    pub fn cumulative(&self) -> [u64; Waits::BOUNDS.len() + 1] {
        let mut total = 0;
        self.counts.each_ref().map(|count| {
            total += count.get();
            total
        })
    }

    /// Returns the sum of all durations in seconds.
    pub fn seconds(&self) -> f64 {
        self.nanoseconds.load(Ordering::Relaxed) as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_counted_by_length() {
        let waits = Waits::default();
        for milliseconds in [5, 6, 1000, 9000] {
            waits.observe(Duration::from_millis(milliseconds));
        }
        assert_eq!(waits.cumulative(), [1, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4]);
        assert!((waits.seconds() - 10.011).abs() < 1e-6);
    }
}
