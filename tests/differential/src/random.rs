//! Random choices that depend only on a seed: the same on every machine and with every version of
//! the dependencies.

/// A random number generator (SplitMix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        // Neighbouring seeds begin far apart.
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xd1b5_4a32_d192_ed03)
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`; 0 when there is none.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { usize::try_from(self.number() % end as u64).unwrap_or(0) }
    }

    /// Returns true with a probability of `share` percent.
    pub fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    /// Picks an item.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Picks an item by weight.
    pub fn weighted<'a, T>(&mut self, from: &'a [(usize, T)]) -> &'a T {
        let mut at = self.below(from.iter().map(|(weight, _)| weight).sum());
        for (weight, item) in from {
            if at < *weight {
                return item;
            }
            at -= weight;
        }
        &from[0].1
    }
}
