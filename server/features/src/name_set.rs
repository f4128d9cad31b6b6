//! Sets of names that definitions and code declare, such as feature gates: one bit per name.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use foldhash::fast::FixedState;

type Numbers = HashMap<&'static str, u32, FixedState>;

/// The number of each name, in order of first use. The names are constants of definitions and code.
static NUMBERS: LazyLock<RwLock<Numbers>> = LazyLock::new(RwLock::default);

thread_local! {
    /// The numbers that this thread has looked up. Without it, each lookup of each thread would write to the
    /// same lock.
    static LOOKED_UP: RefCell<Numbers> = RefCell::default();
}

/// The number of a name. Comparing numbers reads no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameId(u32);

impl NameId {
    /// Returns the number of a name, which it gets now if it has none.
    pub fn of(name: &'static str) -> Self {
        Self::known(name).unwrap_or_else(|| {
            let mut numbers = NUMBERS.write().unwrap_or_else(PoisonError::into_inner);
            let next = numbers.len() as u32;
            NameId(*numbers.entry(name).or_insert(next))
        })
    }

    /// Returns `None` for a name that is in no set and that no definition in use refers to.
    pub fn known(name: &str) -> Option<Self> {
        LOOKED_UP.with_borrow_mut(|looked_up| {
            if let Some(number) = looked_up.get(name) {
                return Some(NameId(*number));
            }
            let numbers = NUMBERS.read().unwrap_or_else(PoisonError::into_inner);
            let (name, number) = numbers.get_key_value(name)?;
            looked_up.insert(name, *number);
            Some(NameId(*number))
        })
    }

    /// The index of the word in the bit set, and the bit in that word.
    fn place(self) -> (usize, u64) {
        (self.0 as usize / 64, 1 << (self.0 % 64))
    }
}

/// A set of names.
#[derive(Clone, Debug, Default)]
pub struct NameSet(Vec<u64>);

impl NameSet {
    /// Whether a name is in the set.
    #[inline]
    pub fn contains(&self, name: NameId) -> bool {
        let (word, bit) = name.place();
        self.0.get(word).is_some_and(|bits| bits & bit != 0)
    }

    /// Adds a name.
    pub fn insert(&mut self, name: NameId) {
        let (word, bit) = name.place();
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= bit;
    }

    /// Removes a name.
    pub fn remove(&mut self, name: NameId) {
        let (word, bit) = name.place();
        if let Some(bits) = self.0.get_mut(word) {
            *bits &= !bit;
        }
    }

    /// Adds all names of another set.
    pub fn extend(&mut self, others: &NameSet) {
        self.0.resize(self.0.len().max(others.0.len()), 0);
        self.0.iter_mut().zip(&others.0).for_each(|(bits, more)| *bits |= more);
    }

    /// The names of this set that another set does not contain.
    pub fn without(&self, others: &NameSet) -> NameSet {
        let others = others.0.iter().copied().chain(std::iter::repeat(0));
        NameSet(self.0.iter().zip(others).map(|(bits, other)| bits & !other).collect())
    }

    /// Whether two sets have a name in common.
    #[inline]
    pub fn meets(&self, other: &NameSet) -> bool {
        self.0.iter().zip(&other.0).any(|(one, other)| one & other != 0)
    }

    /// The names, in order of their first use in the process.
    pub fn iter(&self) -> impl Iterator<Item = NameId> {
        let all = 0..self.0.len() as u32 * u64::BITS;
        all.map(NameId).filter(|name| self.contains(*name))
    }
}

impl FromIterator<NameId> for NameSet {
    fn from_iter<I: IntoIterator<Item = NameId>>(names: I) -> Self {
        let mut set = NameSet::default();
        names.into_iter().for_each(|name| set.insert(name));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_names_once() {
        let (one, other) = (NameId::of("name-set-one"), NameId::of("name-set-other"));
        assert_ne!(one, other);
        assert_eq!((NameId::known("name-set-one"), NameId::known("name-set-never")), (Some(one), None));
    }

    #[test]
    fn compares_sets_of_different_sizes() {
        let (near, far) = (NameId(3), NameId(200));
        let (small, large) = (NameSet::from_iter([near]), NameSet::from_iter([near, far]));
        assert!(small.meets(&large) && large.meets(&small) && !small.contains(far));
        assert_eq!(small.without(&large).iter().next(), None);
        assert_eq!(large.without(&small).iter().collect::<Vec<_>>(), [far]);
        assert!(!large.without(&small).meets(&small));
        let mut both = small.clone();
        both.extend(&large);
        both.remove(near);
        assert_eq!(both.iter().collect::<Vec<_>>(), [far]);
        both.remove(far);
        both.remove(NameId(500));
        assert_eq!(both.iter().next(), None);
    }
}
