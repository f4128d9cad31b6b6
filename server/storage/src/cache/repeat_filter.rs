//! Detects objects that are requested repeatedly; only their encodings are cached.
//!
//! When more objects are read in turn than the cache has room for, their encodings are evicted before
//! they are used. Each of them costs a copy and two locks, and evicts an older one.

use std::sync::atomic::{AtomicU32, Ordering};

/// Remembers the last few thousand requested objects; objects with the same slot replace each other.
pub(super) struct RepeatFilter(Box<[AtomicU32; PLACES]>);

/// A power of two.
const PLACES: usize = 4096;

impl Default for RepeatFilter {
    fn default() -> Self {
        RepeatFilter(Box::new([const { AtomicU32::new(0) }; PLACES]))
    }
}

impl RepeatFilter {
    /// Records the object at this address as requested; returns whether it was requested recently.
    pub fn record(&self, address: usize) -> bool {
        // Multiplication by the golden ratio spreads neighbouring addresses.
        let mixed = (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (place, name) = ((mixed >> 52) as usize, (mixed >> 16) as u32);
        self.0[place % PLACES].swap(name, Ordering::Relaxed) == name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests each of `things` objects twice, in turn; returns how many requests were detected as repeated.
    fn repeated(things: usize) -> usize {
        let filter = RepeatFilter::default();
        let rounds = std::iter::repeat_n(0..things, 2).flatten();
        rounds.filter(|thing| filter.record(0x7f00_0000_0000 + thing * 320)).count()
    }

    #[test]
    fn detects_repeats_among_few_objects_only() {
        assert_eq!(repeated(1), 1);
        assert!(repeated(400) > 350, "{}", repeated(400));
        assert!(repeated(100_000) < 1_000, "{}", repeated(100_000));
    }
}
