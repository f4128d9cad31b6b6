//! Shuffle sharding: each flow has a hand of queues, and two flows rarely have the same hand.
//!
//! A flow that fills its queues leaves other flows at least one queue that it does not fill
//! (upstream: `shufflesharding.Dealer`).

/// The largest hand: 15 cards of a deck of 16 use up 60 bits of the hash.
pub const MAX_HAND: usize = 15;

/// A hand of queues, by index.
pub struct Hand {
    cards: [usize; MAX_HAND],
    size: usize,
}

impl Hand {
    /// Deals `size` different cards of a deck from a hash.
    pub fn deal(mut hash: u64, deck: usize, size: usize) -> Self {
        let size = size.min(deck).min(MAX_HAND);
        let mut cards = [0; MAX_HAND];
        for dealt in 0..size {
            let left = (deck - dealt) as u64;
            let mut card = (hash % left) as usize;
            hash /= left;
            // The index counts the remaining cards; each card dealt before that is not above it
            // increments it.
            let mut before: [usize; MAX_HAND] = cards;
            before[..dealt].sort_unstable();
            for taken in &before[..dealt] {
                card += usize::from(card >= *taken);
            }
            cards[dealt] = card;
        }
        Hand { cards, size }
    }

    /// The queues, rotated by `turn`, so that no queue of a hand is preferred.
    pub fn after_turn(&self, turn: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.size).map(move |i| self.cards[(turn + i) % self.size])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeSet, HashMap};

    #[test]
    fn cards_of_a_hand_are_distinct() {
        for (deck, size) in [(1, 1), (8, 8), (64, 6), (128, 6), (16, 15)] {
            for hash in (0..2_000_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)) {
                let hand: BTreeSet<usize> = Hand::deal(hash, deck, size).after_turn(hash as usize).collect();
                assert!(hand.len() == size && hand.iter().all(|card| *card < deck), "{deck} {size} {hash}: {hand:?}");
            }
        }
    }

    #[test]
    fn all_hands_are_dealt_equally_often() {
        let mut hands: HashMap<Vec<usize>, usize> = HashMap::new();
        for hash in 0..20 * 19 * 18 {
            *hands.entry(Hand::deal(hash, 20, 3).after_turn(0).collect()).or_default() += 1;
        }
        assert!(hands.len() == 20 * 19 * 18 && hands.values().all(|times| *times == 1));
    }
}
