//! Checks of constraints that nothing can satisfy, and of words that refer to missing things: patterns,
//! defaults outside of bounds, feature gates, discriminator values without a member.

use regex::Regex;

use super::Checker;
use crate::diagnostics::{Diagnostic, codes};
use crate::gates::Gates;
use crate::model::{Field, Literal, Span, Struct, TypeRef, Union};
use crate::paths;

/// Allowed reasons of a rule: those of `x-kubernetes-validations`, with or without `FieldValue`.
const REASONS: [&str; 4] = ["Invalid", "Forbidden", "Required", "Duplicate"];

impl Checker<'_> {
    /// Checks the constraints of a struct's fields, defaults, unions and rules.
    pub(super) fn constraints(&mut self, one: &Struct, gates: &Gates<'_>) {
        for field in &one.fields {
            let pattern = self.pattern(field);
            if let Some(default) = &field.default {
                let word = if field.default_hidden { "default_hidden=" } else { "default=" };
                let place = self.word(&field.span, word);
                self.default_fits(field, pattern.as_ref(), default, &place);
            }
            self.gate(&field.span, field.feature_gate.as_deref(), gates);
            if field.gate_with_struct && field.feature_gate.is_none() {
                let message = "`gate_with_struct` needs a gate: `gate = NAME`";
                self.push(Diagnostic::error(codes::BAD_VALUE, &field.span, message));
            }
        }
        for default in &one.path_defaults {
            let Ok(place) = self.follow(one, &default.path) else { continue };
            let field = place.field.clone();
            let pattern = field.validation.pattern.as_deref().and_then(|pattern| Regex::new(pattern).ok());
            self.default_fits(&field, pattern.as_ref(), &default.value, &default.span);
        }
        for union in &one.unions {
            self.union_covers(one, union);
        }
        for rule in &one.rules {
            let reason = rule.reason.trim_start_matches("FieldValue");
            if !rule.reason.is_empty() && !REASONS.contains(&reason) {
                let message = format!("`{}` is no reason of a refusal", rule.reason);
                self.push(Diagnostic::error(codes::BAD_VALUE, &rule.span, message).suggest(reason, REASONS));
            }
        }
    }

    /// The compiled pattern of a field; pushes a diagnostic if it does not compile.
    fn pattern(&mut self, field: &Field) -> Option<Regex> {
        match Regex::new(field.validation.pattern.as_deref()?) {
            Ok(compiled) => Some(compiled),
            Err(error) => {
                let place = self.word(&field.span, "pattern=");
                let why = error.to_string();
                let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_string();
                let message = format!("this is no regular expression: {why}");
                self.push(Diagnostic::error(codes::PATTERN, &place, message));
                None
            }
        }
    }

    /// Checks that a default meets the field's constraints. Otherwise the server would reject objects
    /// that omit the field.
    fn default_fits(&mut self, field: &Field, pattern: Option<&Regex>, value: &Literal, place: &Span) {
        let Some((word, why)) = broken(field, pattern, value) else { return };
        let message = format!("this default {why}");
        let bound = self.word(&field.span, word);
        let diagnostic = Diagnostic::error(codes::DEFAULT_BOUNDS, place, message);
        self.push(diagnostic.also(&bound, "the constraint"));
    }

    /// Checks that each value of a closed discriminator has a member or is listed in `without`.
    fn union_covers(&mut self, one: &Struct, union: &Union) {
        let Some(discriminator) = &union.discriminator else { return };
        let Some(id) = self.model.structs.iter().position(|other| std::ptr::eq(other, one)) else { return };
        let Some((_, field)) = paths::find(self.model, crate::model::StructId(id), discriminator) else { return };
        let TypeRef::Enum(values) = field.ty else { return };
        let values = &self.model.enums[values.0];
        let is_listed = |value: &str| {
            union.members.iter().any(|(of, _)| of == value) || union.without.iter().any(|without| without == value)
        };
        let missing: Vec<&str> = values.variants.iter().map(|(_, value, _)| value.as_str()).collect();
        let missing: Vec<&str> = missing.into_iter().filter(|value| !is_listed(value)).collect();
        if missing.is_empty() {
            return;
        }
        let list = missing.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ");
        let message = format!("the union declares no member for {list} of `{}`", values.name);
        let diagnostic = Diagnostic::error(codes::UNION, &union.span, message);
        let help = format!("add a member for it, or `without({})` where no member may be set", missing.join(", "));
        self.push(diagnostic.help(help));
    }
}

/// The word of the constraint that a default violates, and a description of the violation.
fn broken(field: &Field, pattern: Option<&Regex>, value: &Literal) -> Option<(&'static str, String)> {
    let v = &field.validation;
    match value {
        Literal::Int(number) => {
            let below = v.min.filter(|min| number < min).map(|min| ("min=", format!("is below the minimum {min}")));
            below
                .or_else(|| v.max.filter(|max| number > max).map(|max| ("max=", format!("is above the maximum {max}"))))
        }
        Literal::String(text) => {
            let characters = text.chars().count() as u64;
            if let Some(least) = v.min_length.filter(|least| characters < *least) {
                return Some(("min_length=", format!("is shorter than {least} characters")));
            }
            if let Some(most) = v.max_length.filter(|most| characters > *most) {
                return Some(("max_length=", format!("is longer than {most} characters")));
            }
            if let Some(most) = v.max_bytes.filter(|most| text.len() as u64 > *most) {
                return Some(("max_bytes=", format!("is longer than {most} bytes")));
            }
            let pattern = pattern.filter(|pattern| !pattern.is_match(text));
            pattern.map(|pattern| ("pattern=", format!("does not match `{}`", pattern.as_str())))
        }
        Literal::List(items) => counted(field, items.len() as u64),
        Literal::Object(entries) if matches!(field.ty, TypeRef::Map(_)) => counted(field, entries.len() as u64),
        Literal::Object(_) | Literal::Bool(_) | Literal::Float(_) => None,
    }
}

fn counted(field: &Field, count: u64) -> Option<(&'static str, String)> {
    let v = &field.validation;
    if let Some(least) = v.min_items.filter(|least| count < *least) {
        return Some(("min_items=", format!("has fewer than {least} items")));
    }
    v.max_items.filter(|most| count > *most).map(|most| ("max_items=", format!("has more than {most} items")))
}
