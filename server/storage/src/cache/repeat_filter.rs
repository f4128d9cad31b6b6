//! Who is asked for again, and so is worth an encoding that is kept.
//!
//! Kept encodings of objects that are read in turn, more of them than there is room for, are thrown away before they are of use; each has cost a
//! copy and two locks, and the place of one that was.

use std::sync::atomic::{AtomicU32, Ordering};

/// Remembers the last few thousand of those that were asked for: of all that share a place, the last.
pub(super) struct RepeatFilter(Box<[AtomicU32; PLACES]>);

/// A power of two.
const PLACES: usize = 4096;

impl Default for RepeatFilter {
    fn default() -> Self {
        RepeatFilter(Box::new([const { AtomicU32::new(0) }; PLACES]))
    }
}

impl RepeatFilter {
    /// Whether the thing at this address has been asked for lately; from now on it has.
    pub fn again(&self, address: usize) -> bool {
        // Golden ratio: neighbours go to places far from one another.
        let mixed = (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (place, name) = ((mixed >> 52) as usize, (mixed >> 16) as u32);
        self.0[place % PLACES].swap(name, Ordering::Relaxed) == name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of so many things that are asked for in turn, twice, have been asked for before.
    fn again(things: usize) -> usize {
        let asked = RepeatFilter::default();
        let rounds = std::iter::repeat_n(0..things, 2).flatten();
        rounds.filter(|thing| asked.again(0x7f00_0000_0000 + thing * 320)).count()
    }

    #[test]
    fn few_things_are_asked_for_again_and_many_are_not() {
        assert_eq!(again(1), 1);
        assert!(again(400) > 350, "{}", again(400));
        assert!(again(100_000) < 1_000, "{}", again(100_000));
    }
}
