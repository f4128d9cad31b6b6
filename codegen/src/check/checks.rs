//! Checks of `#[check(..)]`: fields, formats, name rules, gates and parts have to exist, and the group
//! has to support checks.

use super::Checker;
use super::formats::Formats;
use crate::diagnostics::{Diagnostic, codes};
use crate::gates::Gates;
use crate::model::{Assertion, Check, Condition, Span, Struct, StructId};
use crate::parse::VOCABULARY;
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
        for (index, named) in one.conditions.iter().enumerate() {
            let known: Vec<&str> = one.conditions[..index].iter().map(|named| named.name.as_str()).collect();
            let mut paths = Vec::new();
            paths_of_condition(&named.condition, "", &mut paths);
            self.paths_of(one, &paths, &named.span);
            self.condition(&named.condition, one, &known, &named.span, formats, gates);
        }
        let known: Vec<&str> = one.conditions.iter().map(|named| named.name.as_str()).collect();
        for check in &one.checks {
            self.paths_of(one, &paths(check), &check.span);
            self.words_of(&check.assertions, &check.span, formats);
            self.parts_of(&check.assertions, &check.field, one, &check.span);
            conditions(check).for_each(|condition| self.condition(condition, one, &known, &check.span, formats, gates));
        }
    }

    fn paths_of(&mut self, one: &Struct, paths: &[String], span: &Span) {
        for path in paths {
            if let Err(why) = self.follow(one, path) {
                self.push(Diagnostic::error(codes::PATH, span, why.to_string()));
            }
        }
    }

    /// Checks the gates, formats, patterns and names of a condition. `known` are the names that the
    /// condition may use.
    fn condition(
        &mut self,
        condition: &Condition,
        one: &Struct,
        known: &[&str],
        span: &Span,
        formats: &Formats,
        gates: &Gates<'_>,
    ) {
        match condition {
            Condition::Gate(gate) | Condition::Uses(gate) => self.gate(span, Some(gate), gates),
            Condition::Holds(field, assertions) => {
                self.words_of(assertions, span, formats);
                self.parts_of(assertions, field, one, span);
            }
            Condition::Matches(_, pattern) => {
                if let Err(why) = regex::Regex::new(pattern) {
                    self.push(Diagnostic::error(codes::PATTERN, span, format!("`{pattern}`: {why}")));
                }
            }
            Condition::Named(name, at) if !known.contains(&name.as_str()) => {
                let words = VOCABULARY.iter().filter(|(of, _)| *of == "when").flat_map(|(_, words)| words.iter());
                let message = format!("unknown word `{name}` in `when(..)`");
                let words = known.iter().chain(words).copied();
                self.push(Diagnostic::error(codes::UNKNOWN_WORD, at, message).suggest(name, words));
            }
            _ => {}
        }
        // Named conditions apply to the struct, not to items of its lists.
        let known = if condition.list().is_empty() { known } else { &[] };
        condition.inner().iter().for_each(|inner| self.condition(inner, one, known, span, formats, gates));
    }

    /// Checks that `below = PART` refers to structs with checks of that part.
    fn parts_of(&mut self, assertions: &[Assertion], at: &str, one: &Struct, span: &Span) {
        for assertion in assertions {
            match assertion {
                Assertion::Field(field, inner) => self.parts_of(inner, &below(at, field), one, span),
                Assertion::Below(part) if !part.is_empty() => {
                    // A missing field is reported by another check.
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
    conditions(check).for_each(|condition| paths_of_condition(condition, "", &mut paths));
    check.assertions.iter().for_each(|assertion| paths_of_assertion(assertion, &check.field, &mut paths));
    paths
}

/// Collects the fields of a condition, which applies to the struct or to the items of the list `at`.
fn paths_of_condition(condition: &Condition, at: &str, paths: &mut Vec<String>) {
    paths.extend(condition.fields().into_iter().map(|field| below(at, field)));
    if let Condition::Differs(field, except) = condition {
        paths.extend(except.iter().map(|one| below(&below(at, field), one)));
    }
    if let Condition::Holds(field, assertions) = condition {
        assertions.iter().for_each(|inner| paths_of_assertion(inner, &below(at, field), paths));
    }
    let inner_at = if condition.list().is_empty() { at.to_owned() } else { below(at, condition.list()) };
    condition.inner().iter().for_each(|inner| paths_of_condition(inner, &inner_at, paths));
}

fn paths_of_assertion(assertion: &Assertion, at: &str, paths: &mut Vec<String>) {
    match assertion {
        Assertion::Field(field, inner) => {
            let at = below(at, field);
            inner.iter().for_each(|inner| paths_of_assertion(inner, &at, paths));
            paths.extend(Some(at).filter(|at| !at.is_empty()));
        }
        Assertion::AtMost(field, _) | Assertion::AtLeast(field, _) => paths.push(field.clone()),
        Assertion::Paired(field, inner) => {
            paths.push(below(at, field));
            inner.iter().for_each(|inner| paths_of_assertion(inner, at, paths));
        }
        Assertion::Note(_, key) if !key.is_empty() => paths.push(key.clone()),
        Assertion::Show(field, inner) => {
            inner.iter().for_each(|inner| paths_of_assertion(inner, at, paths));
            paths.push(field.clone());
        }
        Assertion::MoreThan(field, _) | Assertion::Selected(field, _) => paths.push(field.clone()),
        Assertion::Distinct(fields, _) => paths.extend(fields.iter().map(|field| below(at, field))),
        other => other.inner().iter().for_each(|inner| paths_of_assertion(inner, at, paths)),
    }
}
