//! The options that are set in a validation: one bit per name, and the texts of some options.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use foldhash::fast::FixedState;

/// The number of each name, in order of first use. The names are constants of definitions and code.
static NUMBERS: LazyLock<RwLock<HashMap<&'static str, u32, FixedState>>> = LazyLock::new(RwLock::default);

/// The number of an option's name. Comparing numbers reads no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OptionId(u32);

impl OptionId {
    pub fn of(name: &'static str) -> Self {
        Self::known(name).unwrap_or_else(|| {
            let mut numbers = NUMBERS.write().unwrap_or_else(PoisonError::into_inner);
            let next = numbers.len() as u32;
            OptionId(*numbers.entry(name).or_insert(next))
        })
    }

    /// Returns `None` for a name that was never set and that no condition refers to.
    pub fn known(name: &str) -> Option<Self> {
        NUMBERS.read().unwrap_or_else(PoisonError::into_inner).get(name).copied().map(OptionId)
    }

    /// The index of the word in the bit set, and the bit in that word.
    fn place(self) -> (usize, u64) {
        (self.0 as usize / 64, 1 << (self.0 % 64))
    }
}

/// The options that are set, some with a text.
#[derive(Clone, Debug, Default)]
pub struct ChosenOptions {
    bits: Vec<u64>,
    texts: Vec<(OptionId, String)>,
}

impl ChosenOptions {
    #[inline]
    pub(crate) fn has(&self, option: OptionId) -> bool {
        let (word, bit) = option.place();
        self.bits.get(word).is_some_and(|bits| bits & bit != 0)
    }

    /// The text of an option, if it is set; empty for one without a text.
    pub(crate) fn text(&self, option: OptionId) -> Option<&str> {
        let text = || self.texts.iter().find(|(of, _)| *of == option).map_or("", |(_, text)| text.as_str());
        self.has(option).then(text)
    }

    /// Sets an option without a text, or unsets it.
    pub(crate) fn set(&mut self, option: OptionId, is_chosen: bool) {
        let (word, bit) = option.place();
        if !self.texts.is_empty() {
            self.texts.retain(|(of, _)| *of != option);
        }
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        if is_chosen {
            self.bits[word] |= bit;
        } else {
            self.bits[word] &= !bit;
        }
    }

    /// Sets an option to a text.
    pub(crate) fn set_text(&mut self, option: OptionId, text: String) {
        self.set(option, true);
        if !text.is_empty() {
            self.texts.push((option, text));
        }
    }

    /// Sets all options that `others` has set, with their texts.
    pub(crate) fn extend(&mut self, others: &ChosenOptions) {
        let words = self.bits.len().max(others.bits.len());
        self.bits.resize(words, 0);
        self.bits.iter_mut().zip(&others.bits).for_each(|(bits, more)| *bits |= more);
        self.texts.retain(|(of, _)| !others.has(*of));
        self.texts.extend(others.texts.iter().cloned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_options_by_name() {
        let (plain, texted) = (OptionId::of("chosen-plain"), OptionId::of("chosen-texted"));
        assert_ne!(plain, texted);
        assert_eq!(OptionId::known("chosen-plain"), Some(plain));
        assert_eq!(OptionId::known("chosen-never"), None);
        let mut options = ChosenOptions::default();
        assert_eq!((options.has(plain), options.text(texted)), (false, None));
        options.set(plain, true);
        options.set_text(texted, "four".into());
        assert_eq!((options.text(plain), options.text(texted)), (Some(""), Some("four")));
        options.set(texted, true);
        assert_eq!(options.text(texted), Some(""));
        options.set(plain, false);
        assert!(!options.has(plain));
    }

    #[test]
    fn extend_replaces_texts() {
        let (first, second) = (OptionId::of("chosen-first"), OptionId::of("chosen-second"));
        let (mut one, mut other) = (ChosenOptions::default(), ChosenOptions::default());
        one.set_text(first, "a".into());
        one.set(second, true);
        other.set_text(first, "b".into());
        one.extend(&other);
        assert_eq!((one.text(first), one.text(second)), (Some("b"), Some("")));
        other.set(first, true);
        one.extend(&other);
        assert_eq!(one.text(first), Some(""));
    }
}
