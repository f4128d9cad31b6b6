//! The options that are set in a validation, and the texts of some options.

use crate::features::{NameId, NameSet};

/// The options that are set, some with a text.
#[derive(Clone, Debug, Default)]
pub struct ChosenOptions {
    set: NameSet,
    texts: Vec<(NameId, String)>,
}

impl ChosenOptions {
    #[inline]
    pub(crate) fn has(&self, option: NameId) -> bool {
        self.set.contains(option)
    }

    /// The text of an option, if it is set; empty for one without a text.
    pub(crate) fn text(&self, option: NameId) -> Option<&str> {
        let text = || self.texts.iter().find(|(of, _)| *of == option).map_or("", |(_, text)| text.as_str());
        self.has(option).then(text)
    }

    /// Sets an option without a text, or unsets it.
    pub(crate) fn set(&mut self, option: NameId, is_chosen: bool) {
        if !self.texts.is_empty() {
            self.texts.retain(|(of, _)| *of != option);
        }
        if is_chosen {
            self.set.insert(option);
        } else {
            self.set.remove(option);
        }
    }

    /// Sets an option to a text.
    pub(crate) fn set_text(&mut self, option: NameId, text: String) {
        self.set(option, true);
        if !text.is_empty() {
            self.texts.push((option, text));
        }
    }

    /// Sets all options that `others` has set, with their texts.
    pub(crate) fn extend(&mut self, others: &ChosenOptions) {
        self.set.extend(&others.set);
        self.texts.retain(|(of, _)| !others.has(*of));
        self.texts.extend(others.texts.iter().cloned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_options_by_name() {
        let (plain, texted) = (NameId::of("chosen-plain"), NameId::of("chosen-texted"));
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
        let (first, second) = (NameId::of("chosen-first"), NameId::of("chosen-second"));
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
