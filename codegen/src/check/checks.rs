//! `#[check(..)]`: whether fields, formats, rules of names, gates and parts exist, and whether the group is one that has checks.

use super::Checker;
use super::formats::Formats;
use crate::diagnostics::{Diagnostic, codes};
use crate::gates::Gates;
use crate::model::{Assertion, Check, Condition, Span, Struct, StructId};
use crate::paths::below;

impl Checker<'_> {
    /// The checks of a struct.
    pub(super) fn checks(&mut self, one: &Struct, formats: &Formats, gates: &Gates<'_>) {
        let group = self.model.groups.iter().find(|group| group.module == one.module);
        let is_tagged = group.is_some_and(|group| group.tagged_validation);
        if let Some(check) = one.checks.first().filter(|_| !is_tagged) {
            let message = "`check(..)` is for groups of `validation = tagged`: here all words of fields are in force";
            let diagnostic = Diagnostic::error(codes::CONFLICT, &check.span, message);
            return self.push(diagnostic.help("write the constraint on the field, or `#[rule(..)]` on the struct"));
        }
        for check in &one.checks {
            for path in paths(check) {
                if let Err(message) = self.follow(one, &path) {
                    self.push(Diagnostic::error(codes::PATH, &check.span, message));
                }
            }
            self.words_of(&check.assertions, &check.span, formats);
            self.parts_of(&check.assertions, &check.field, one, &check.span);
            for condition in conditions(check) {
                self.gates_of(condition, &check.span, gates);
                self.words_of_condition(condition, one, &check.span, formats);
            }
        }
    }

    fn gates_of(&mut self, condition: &Condition, span: &Span, gates: &Gates<'_>) {
        if let Condition::Gate(gate) | Condition::Uses(gate) = condition {
            self.gate(span, Some(gate), gates);
        }
        condition.inner().iter().for_each(|inner| self.gates_of(inner, span, gates));
    }

    fn words_of_condition(&mut self, condition: &Condition, one: &Struct, span: &Span, formats: &Formats) {
        if let Condition::Holds(field, assertions) = condition {
            self.words_of(assertions, span, formats);
            self.parts_of(assertions, field, one, span);
        }
        condition.inner().iter().for_each(|inner| self.words_of_condition(inner, one, span, formats));
    }

    /// `below = PART` leads to structs that have checks of the part.
    fn parts_of(&mut self, assertions: &[Assertion], at: &str, one: &Struct, span: &Span) {
        for assertion in assertions {
            match assertion {
                Assertion::Field(field, inner) => self.parts_of(inner, &below(at, field), one, span),
                Assertion::Below(part) if !part.is_empty() => {
                    // That the field exists is checked by itself.
                    let Some(held) = self.follow(one, at).ok().and_then(|place| place.field.ty.held()) else {
                        continue;
                    };
                    self.part(part, held, span);
                }
                other => self.parts_of(other.inner(), at, one, span),
            }
        }
    }

    fn part(&mut self, part: &str, held: StructId, span: &Span) {
        let held = &self.model.structs[held.0];
        let conditions = held.checks.iter().flat_map(|check| &check.when);
        let parts = conditions.flat_map(|condition| match condition {
            Condition::Part(parts) => parts.as_slice(),
            _ => &[],
        });
        let parts: Vec<&str> = parts.map(String::as_str).collect();
        if !parts.contains(&part) {
            let message = format!("no check of `{}` belongs to the part `{part}`", held.name);
            self.push(Diagnostic::error(codes::BAD_VALUE, span, message).suggest(part, parts));
        }
    }

    fn words_of(&mut self, assertions: &[Assertion], span: &Span, formats: &Formats) {
        for assertion in assertions {
            let (what, word, known) = match assertion {
                Assertion::Format(word) => ("format", word, &formats.texts),
                Assertion::Name(word) => ("rule of names", word, &formats.names),
                other => {
                    self.words_of(other.inner(), span, formats);
                    continue;
                }
            };
            if !known.is_empty() && !known.contains(word) {
                let diagnostic = Diagnostic::error(codes::FORMAT, span, format!("no {what} `{word}`"));
                self.push(diagnostic.suggest(word, known.iter().map(String::as_str)));
            }
        }
    }
}

/// The conditions of a check, and those of the options that it chooses.
fn conditions(check: &Check) -> impl Iterator<Item = &Condition> {
    let chosen = check.assertions.iter().flat_map(|assertion| match assertion {
        Assertion::Choose(_, conditions) => conditions.as_slice(),
        _ => &[],
    });
    check.when.iter().chain(chosen)
}

/// The fields that a check names.
fn paths(check: &Check) -> Vec<String> {
    let mut paths = Vec::new();
    if !check.field.is_empty() {
        paths.push(check.field.clone());
    }
    conditions(check).for_each(|condition| paths_of_condition(condition, &mut paths));
    check.assertions.iter().for_each(|assertion| paths_of_assertion(assertion, &check.field, &mut paths));
    paths
}

fn paths_of_condition(condition: &Condition, paths: &mut Vec<String>) {
    paths.extend(condition.fields().into_iter().cloned());
    if let Condition::Holds(field, assertions) = condition {
        assertions.iter().for_each(|assertion| paths_of_assertion(assertion, field, paths));
    }
    condition.inner().iter().for_each(|inner| paths_of_condition(inner, paths));
}

fn paths_of_assertion(assertion: &Assertion, at: &str, paths: &mut Vec<String>) {
    match assertion {
        Assertion::Field(field, inner) => {
            let at = below(at, field);
            inner.iter().for_each(|inner| paths_of_assertion(inner, &at, paths));
            paths.extend(Some(at).filter(|at| !at.is_empty()));
        }
        Assertion::AtMost(field, _) | Assertion::AtLeast(field, _) => paths.push(field.clone()),
        Assertion::Among(field, _) | Assertion::NotAmong(field, _) => paths.push(field.clone()),
        Assertion::Paired(field, inner) => {
            paths.push(below(at, field));
            inner.iter().for_each(|inner| paths_of_assertion(inner, at, paths));
        }
        Assertion::Note(_, key) if !key.is_empty() => paths.push(key.clone()),
        Assertion::Show(field, inner) => {
            inner.iter().for_each(|inner| paths_of_assertion(inner, at, paths));
            paths.push(field.clone());
        }
        Assertion::Distinct(fields, _) => paths.extend(fields.iter().map(|field| below(at, field))),
        other => other.inner().iter().for_each(|inner| paths_of_assertion(inner, at, paths)),
    }
}
