//! `#[check(..)]`: whether fields, formats and rules of names exist, and whether the group is one that has checks.

use super::Checker;
use super::formats::Formats;
use crate::diagnostics::{Diagnostic, codes};
use crate::model::{Assertion, Check, Condition, Span, Struct};

impl Checker<'_> {
    /// The checks of a struct.
    pub(super) fn checks(&mut self, one: &Struct, formats: &Formats) {
        let group = self.model.groups.iter().find(|group| group.module == one.module);
        let is_tagged = group.is_some_and(|group| group.tagged_validation);
        if let Some(check) = one.checks.first().filter(|_| !is_tagged) {
            let message = "`check(..)` is for groups of `validation = tagged`: here all words of fields are in force";
            let diagnostic = Diagnostic::error(codes::CONFLICT, &check.span, message);
            return self.push(diagnostic.help("write the constraint on the field, or `#[rule(..)]` on the struct"));
        }
        for check in &one.checks {
            for path in paths(check) {
                if let Err(message) = self.follow(one, path) {
                    self.push(Diagnostic::error(codes::PATH, &check.span, message));
                }
            }
            self.words_of(&check.assertions, &check.span, formats);
        }
    }

    fn words_of(&mut self, assertions: &[Assertion], span: &Span, formats: &Formats) {
        for assertion in assertions {
            let (what, word, known) = match assertion {
                Assertion::Format(word) => ("format", word, &formats.texts),
                Assertion::Name(word) => ("rule of names", word, &formats.names),
                Assertion::Each(inner) | Assertion::Keys(inner) => {
                    self.words_of(inner, span, formats);
                    continue;
                }
                _ => continue,
            };
            if !known.is_empty() && !known.contains(word) {
                let diagnostic = Diagnostic::error(codes::FORMAT, span, format!("no {what} `{word}`"));
                self.push(diagnostic.suggest(word, known.iter().map(String::as_str)));
            }
        }
    }
}

/// The fields that a check names.
fn paths(check: &Check) -> impl Iterator<Item = &str> {
    let named = check.when.iter().filter_map(|condition| match condition {
        Condition::Set(field) | Condition::Unset(field) | Condition::Is(field, _) | Condition::IsNot(field, _) => {
            Some(field.as_str())
        }
        Condition::Update | Condition::Create | Condition::Subresource(_) | Condition::Gate(_) => None,
    });
    named.chain(Some(check.field.as_str()).filter(|field| !field.is_empty()))
}
