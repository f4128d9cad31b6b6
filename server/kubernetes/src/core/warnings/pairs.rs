//! Pairs of equal items.

use std::collections::HashSet;

/// Maximum number of characters of all warnings in a response, and of a single warning (upstream's
/// limits).
const ROOM: usize = 4 * 1024;
const LONG: usize = 256;

/// Maximum number of bytes of warnings about pairs that are generated, duplicates included.
const MAX_TEXT: usize = 1 << 20;

/// Warnings about pairs of elements. There are up to n squared pairs, so generation stops at the limit
/// of a response.
pub(super) struct Pairs<'o> {
    pub(super) out: &'o mut Vec<String>,
    pub(super) seen: HashSet<String>,
    pub(super) room: usize,
    pub(super) made: usize,
}

impl<'o> Pairs<'o> {
    pub(super) fn new(out: &'o mut Vec<String>) -> Self {
        Pairs { out, seen: HashSet::new(), room: ROOM, made: 0 }
    }

    /// Adds a warning unless it is a duplicate. Returns whether there is room for more.
    pub(super) fn add(&mut self, text: String) -> bool {
        self.made += text.len();
        if !self.seen.contains(&text) {
            self.room = self.room.saturating_sub(text.chars().take(LONG).count());
            self.seen.insert(text.clone());
            self.out.push(text);
        }
        self.room > 0 && self.made < MAX_TEXT
    }
}
