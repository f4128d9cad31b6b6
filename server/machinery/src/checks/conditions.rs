//! When checks are made.

use super::of::{Of, length};
use super::{CheckDef, Condition};
use crate::field_path::Path;
use crate::gates::uses_gate;
use crate::hooks::Validation;
use crate::reflect::Value;
use crate::scalar::IntOrString;

impl CheckDef {
    /// Whether the check belongs to a part of the checks of its struct.
    pub(super) fn is_of(&self, part: &str) -> bool {
        match self.when.first() {
            Some(Condition::Part(parts)) => parts.contains(&part),
            _ => part.is_empty(),
        }
    }
}

impl Validation<'_> {
    /// Whether an empty list or map was sent at the end of a way.
    fn is_sent_empty(&self, path: &Path<'_>, way: &[&str]) -> bool {
        match way.split_first() {
            Some((name, rest)) => self.is_sent_empty(&path.child(name), rest),
            None => self.context.sent.is_empty_at(&path.to_string()),
        }
    }

    pub(super) fn holds(&self, condition: Condition, of: Of<'_>) -> bool {
        let all = |conditions: &[Condition]| conditions.iter().all(|condition| self.holds(*condition, of));
        match condition {
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
            Condition::Is(field, known) => of.any_at(field, &|of| of.is(known)),
            Condition::None(fields) => fields.iter().all(|field| of.at(field).is_empty()),
            Condition::Many(fields) => fields.iter().filter(|field| !of.at(field).is_empty()).count() > 1,
            Condition::Single(field) => length(of.at(field).new) == 1,
            Condition::Text(field) => matches!(of.at(field).new, Value::IntOrString(IntOrString::String(_))),
            Condition::Blank(field) => of.at(field).is_blank(),
            Condition::Not(condition) => !self.holds(*condition, of),
            Condition::Any(conditions) => conditions.iter().any(|condition| self.holds(*condition, of)),
            Condition::All(conditions) => all(conditions),
            Condition::Was(condition) => of.stored().is_some_and(|stored| self.holds(*condition, stored)),
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
                probe.walk(field, assertions, of);
                errors.is_empty()
            }
            Condition::Version(versions) => versions.iter().any(|version| match version.split_once('/') {
                Some((group, version)) => self.context.group == group && self.context.version == version,
                None => self.context.group.is_empty() && self.context.version == *version,
            }),
            Condition::Several => of.items.is_some_and(|items| items.are_several()),
            Condition::Part(_) => true,
            Condition::Subresource(name) => self.context.subresource == name,
            Condition::Gate(gate) => self.context.enabled(gate),
            Condition::Option(option) => self.has_option(option),
        }
    }
}
