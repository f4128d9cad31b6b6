//! The label sets that were used last. What a KMS plugin makes up does not make the server keep ever more of them.

use std::collections::VecDeque;

/// How many are kept (upstream's `cacheSize`).
const KEPT: usize = 100;

/// Sets of so many labels, the one that was used last at the end.
#[derive(Default)]
pub(super) struct Latest<const LABELS: usize>(VecDeque<[String; LABELS]>);

impl<const LABELS: usize> Latest<LABELS> {
    /// Notes the use of a set; gives the one that is to be forgotten for it.
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
    fn the_oldest_goes() {
        let mut latest = Latest::<1>::default();
        for i in 0..KEPT {
            assert_eq!(latest.touch([&i.to_string()]), None);
        }
        assert_eq!(latest.touch(["0"]), None);
        assert_eq!(latest.touch(["new"]), Some(["1".to_owned()]));
    }
}
