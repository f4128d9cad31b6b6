//! Sets of texts that checks record for later checks: names that must exist, or that must be
//! unique.

use std::collections::{BTreeSet, HashMap};

use super::Assertion;
use super::of::Of;
use crate::hooks::Validation;

/// An open set of texts.
#[derive(Debug)]
pub struct Notes {
    name: &'static str,
    /// The number of occurrences of each text.
    texts: HashMap<String, usize>,
    /// The text of each key, for texts with a key.
    by_key: HashMap<String, String>,
}

impl Notes {
    fn add(&mut self, text: &str, key: Option<&str>) {
        let before = key.and_then(|key| self.by_key.insert(key.to_owned(), text.to_owned()));
        if let Some(count) = before.and_then(|before| self.texts.get_mut(&before)) {
            *count -= 1;
        }
        *self.texts.entry(text.to_owned()).or_default() += 1;
    }

    fn has(&self, text: &str) -> bool {
        self.texts.get(text).is_some_and(|count| *count > 0)
    }
}

impl Validation<'_> {
    /// Opens an empty set. It is open until the checks that opened it are done.
    pub fn open_notes(&mut self, name: &'static str) {
        self.notes.push(Notes { name, texts: HashMap::new(), by_key: HashMap::new() });
    }

    /// Adds a text to the innermost open set with this name, if there is one.
    pub fn note(&mut self, name: &str, text: &str) {
        self.note_by(name, text, None);
    }

    /// Whether the innermost open set with this name contains a text.
    pub fn has_noted(&self, name: &str, text: &str) -> bool {
        self.notes.iter().rfind(|notes| notes.name == name).is_some_and(|notes| notes.has(text))
    }

    /// The texts of the innermost open set with this name.
    pub fn noted(&self, name: &str) -> BTreeSet<&str> {
        let texts = self.notes.iter().rfind(|notes| notes.name == name).into_iter().flat_map(|notes| &notes.texts);
        texts.filter(|(_, count)| **count > 0).map(|(text, _)| text.as_str()).collect()
    }

    fn note_by(&mut self, name: &str, text: &str, key: Option<&str>) {
        if let Some(notes) = self.notes.iter_mut().rfind(|notes| notes.name == name) {
            notes.add(text, key);
        }
    }

    pub(super) fn assert_notes(&mut self, assertion: &Assertion, of: &Of<'_>) {
        match *assertion {
            Assertion::Open(names) => names.iter().for_each(|name| self.open_notes(name)),
            Assertion::Note(name, key) => {
                let key = if key.is_empty() { None } else { of.of_home(key).text() };
                if let Some(text) = of.text() {
                    self.note_by(name, &text, key.as_deref());
                }
            }
            Assertion::Noted(name, detail) if !of.text().is_some_and(|text| self.has_noted(name, &text)) => {
                match detail {
                    "" => self.not_found(of.path, of.shown_plain()),
                    detail => self.invalid(of.path, of.shown_plain(), detail),
                }
            }
            Assertion::Unnoted(name, detail) if of.text().is_some_and(|text| self.has_noted(name, &text)) => {
                match detail {
                    "" => self.duplicate(of.path, of.shown_plain()),
                    detail => self.invalid(of.path, of.shown_plain(), detail),
                }
            }
            _ => {}
        }
    }
}
