//! The most recently used label sets. The limit bounds the number of metrics, because KMS plugins
//! choose their labels.

use std::collections::VecDeque;

/// Maximum number of label sets (upstream's `cacheSize`).
const KEPT: usize = 100;

/// Label sets, least recently used first.
#[derive(Default)]
pub(super) struct Latest<const LABELS: usize>(VecDeque<[String; LABELS]>);

impl<const LABELS: usize> Latest<LABELS> {
    /// Records the use of a label set; returns the one that is evicted.
    pub fn touch(&mut self, labels: [&str; LABELS]) -> Option<[String; LABELS]> {
        let known = self.0.iter().position(|set| set.iter().eq(labels.iter().copied()));
        let set = known.and_then(|at| self.0.remove(at)).unwrap_or_else(|| labels.map(str::to_owned));
        self.0.push_back(set);
        if self.0.len() > KEPT { self.0.pop_front() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_set_is_evicted() {
        let mut latest = Latest::<1>::default();
        for i in 0..KEPT {
            assert_eq!(latest.touch([&i.to_string()]), None);
        }
        assert_eq!(latest.touch(["0"]), None);
        assert_eq!(latest.touch(["new"]), Some(["1".to_owned()]));
    }
}
