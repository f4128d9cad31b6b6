//! Evaluation of conditions.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use regex::Regex;

use super::Condition;
use super::compare::is_alike;
use super::of::{Around, Of, is_one_of, length};
use crate::field_path::Path;
use crate::gates::uses_gate;
use crate::hooks::Validation;
use crate::reflect::{Ref, Value};
use crate::scalar::IntOrString;

impl Validation<'_> {
    /// Whether the request sent an empty list or map at the end of a path.
    fn is_sent_empty(&self, path: &Path<'_>, way: &[&str]) -> bool {
        match way.split_first() {
            Some((name, rest)) => self.is_sent_empty(&path.child(name), rest),
            None => self.context.sent.is_empty_at(&path.to_string()),
        }
    }

    pub(super) fn holds(&self, condition: &Condition, of: &Of<'_>) -> bool {
        match *condition {
            Condition::Update => of.old.is_some(),
            Condition::Create => of.old.is_none(),
            Condition::Set(field) => of.any_at(field, &|of| !of.is_empty()),
            Condition::Unset(field) => !of.any_at(field, &|of| !of.is_empty()),
            Condition::Begins(field, texts) => {
                of.any_at(field, &|of| of.text().is_some_and(|text| texts.iter().any(|begin| text.starts_with(begin))))
            }
            Condition::Noted(field, name) => {
                of.any_at(field, &|of| of.text().is_some_and(|text| self.has_noted(name, &text)))
            }
            Condition::Uses(gate) => of.new.as_struct().is_some_and(|new| uses_gate(new, gate)),
            Condition::Is(field, known) => of.any_at(field, &|of| is_one_of(of.new, known)),
            Condition::None(fields) => fields.iter().all(|field| of.at(field).is_empty()),
            Condition::Many(fields) => fields.iter().filter(|field| !of.at(field).is_empty()).count() > 1,
            Condition::Single(field) => length(of.at(field).new) == 1,
            Condition::Text(field) => matches!(of.at(field).new, Value::IntOrString(IntOrString::String(_))),
            Condition::Blank(field) => of.at(field).is_blank(),
            Condition::Not(condition) => !self.holds(condition, of),
            Condition::Any(conditions) => conditions.iter().any(|condition| self.holds(condition, of)),
            Condition::All(conditions) => self.all(conditions, of),
            Condition::Was(condition) => self.did_hold(condition, of),
            Condition::Changed(field) => of.changes(field),
            Condition::Resized(field) => {
                let of = of.at(field);
                of.old.is_some_and(|old| length(old) != length(of.new))
            }
            Condition::SentEmpty(field) => self.is_sent_empty(of.path, field),
            Condition::Same(one, other) => of.at(one).new == of.at(other).new,
            Condition::Holds(field, assertions) => {
                let mut errors = Vec::new();
                let mut probe = Validation::new(self.context, &mut errors);
                probe.options.clone_from(&self.options);
                probe.walk((field, &[]), assertions, of);
                errors.is_empty()
            }
            Condition::Version(versions) => versions.iter().any(|version| match version.split_once('/') {
                Some((group, version)) => self.context.group == group && self.context.version == version,
                None => self.context.group.is_empty() && self.context.version == *version,
            }),
            Condition::Several => of.around.items.is_some_and(|items| items.are_several()),
            Condition::Some(..)
            | Condition::Fewer(..)
            | Condition::More(..)
            | Condition::Preceded(_)
            | Condition::Flips(_) => self.holds_of_items(condition, of),
            Condition::Above(field, number) => of.at(field).number().is_some_and(|value| value > number),
            Condition::Differs(field, except) => {
                let of = of.at(field);
                of.old.is_some_and(|old| !is_alike(of.new, old, except))
            }
            Condition::Zero(field) => of.at(field).is_zero(),
            Condition::Matches(field, pattern) => of.at(field).text().is_some_and(|text| matches(pattern, &text)),
            Condition::NoError => self.errors.is_empty(),
            Condition::Part(_) => true,
            Condition::Subresource(name) => self.context.subresource == name,
            Condition::Gate(gate) => self.context.enabled(gate),
            Condition::Option(option) => self.has_option(option),
        }
    }

    /// Conditions about items of lists, and about changes between the stored and the new struct.
    fn holds_of_items(&self, condition: &Condition, of: &Of<'_>) -> bool {
        match *condition {
            Condition::Some(list, conditions) => self.count(list, conditions, of) > 0,
            Condition::Fewer(list, conditions) | Condition::More(list, conditions) => {
                let count = self.count(list, conditions, of);
                let stored = of.with_stored(|stored| self.count(list, conditions, stored)).unwrap_or_default();
                if matches!(condition, Condition::Fewer(..)) { count < stored } else { count > stored }
            }
            Condition::Preceded(conditions) => of
                .around
                .items
                .is_some_and(|items| items.is_preceded(conditions, |item| self.all_hold_for(conditions, of, item))),
            Condition::Flips(conditions) => {
                conditions.iter().any(|condition| self.holds(condition, of) != self.did_hold(condition, of))
            }
            _ => false,
        }
    }

    /// Whether a condition holds for the stored struct.
    pub(super) fn did_hold(&self, condition: &Condition, of: &Of<'_>) -> bool {
        of.with_stored(|stored| self.holds(condition, stored)) == Some(true)
    }

    /// Whether a struct in a field meets all conditions.
    fn all_hold_for(&self, conditions: &[Condition], of: &Of<'_>, item: Ref<'_>) -> bool {
        let around = Around::of(item, None);
        self.all(conditions, &Of::structure(of.path, &around, None))
    }

    fn all(&self, conditions: &[Condition], of: &Of<'_>) -> bool {
        conditions.iter().all(|condition| self.holds(condition, of))
    }

    /// The number of items of a list that meet all conditions.
    fn count(&self, list: &[&str], conditions: &[Condition], of: &Of<'_>) -> usize {
        let Value::StructList(items) = of.at(list).new else { return 0 };
        items.iter().filter(|item| self.all_hold_for(conditions, of, *item)).count()
    }
}

/// Compiled regular expressions of conditions. The generator has checked that they compile.
static PATTERNS: LazyLock<RwLock<HashMap<&str, Option<Regex>>>> = LazyLock::new(RwLock::default);

fn matches(pattern: &'static str, text: &str) -> bool {
    let is_match = |regex: &Option<Regex>| regex.as_ref().is_some_and(|regex| regex.is_match(text));
    if let Some(regex) = PATTERNS.read().unwrap_or_else(PoisonError::into_inner).get(pattern) {
        return is_match(regex);
    }
    let mut patterns = PATTERNS.write().unwrap_or_else(PoisonError::into_inner);
    is_match(patterns.entry(pattern).or_insert_with(|| Regex::new(pattern).ok()))
}
