//! The checks of structs (`#[check(..)]`) as rows of `machinery::checks::CheckDef`.

use std::fmt::Write as _;

use heck::ToUpperCamelCase;

use super::functions;
use super::rust::{constant, ident, string, strings};
use crate::model::{Assertion, Condition, Enum, Model, Struct, StructId, TypeRef};
use crate::paths;

/// The name of the constant that holds the checks of a struct.
pub fn name(s: &Struct) -> String {
    format!("{}_CHECKS", constant(&s.name))
}

/// The constant of a condition of a struct that has a name.
fn named(s: &Struct, name: &str) -> String {
    constant(&format!("{}_{name}", s.name))
}

/// The constant, or nothing when the struct has no checks. Conditions with names are constants before it.
pub fn rows(id: StructId, model: &Model) -> String {
    let s = &model.structs[id.0];
    if s.checks.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    let all: Vec<&str> = s.checks.iter().filter(|check| check.is_member()).map(|check| check.field.as_str()).collect();
    for one in &s.conditions {
        let writer = Writer { home: id, model, members: &all };
        let condition = writer.condition("", &one.condition);
        let _ = writeln!(text, "const {}: Condition = {condition};\n", named(s, &one.name));
    }
    let _ = writeln!(text, "/// What is checked in [`{}`], in this order.", ident(&s.name));
    let _ = writeln!(text, "const {}: &[CheckDef] = &[", name(s));
    let mut members = Vec::new();
    for check in &s.checks {
        let writer = Writer { home: id, model, members: &members };
        // Parts first: most checks of a part that is not asked for are left at once.
        let (parts, others): (Vec<_>, Vec<_>) =
            check.when.iter().partition(|condition| matches!(condition, Condition::Part(_)));
        let when: Vec<String> = parts.iter().chain(&others).map(|condition| writer.condition("", condition)).collect();
        let assertions: Vec<String> = check.assertions.iter().map(|one| writer.assertion(&check.field, one)).collect();
        let _ = writeln!(
            text,
            "    CheckDef {{\n        field: {},\n        when: &[{}],\n        assertions: &[{}],\n    }},",
            way(&check.field),
            when.join(", "),
            assertions.join(", ")
        );
        if check.is_member() {
            members.push(check.field.as_str());
        }
    }
    text.push_str("];\n\n");
    text
}

struct Writer<'a> {
    home: StructId,
    model: &'a Model,
    /// The members of the struct's union among the fields of the checks before.
    members: &'a [&'a str],
}

impl Writer<'_> {
    /// A condition of the struct, or of the items of a list `at`.
    fn condition(&self, at: &str, condition: &Condition) -> String {
        let inner_at = if condition.list().is_empty() { at.to_owned() } else { paths::below(at, condition.list()) };
        let inner = || self.conditions(&inner_at, condition.inner());
        match condition {
            Condition::Update => "Condition::Update".into(),
            Condition::Create => "Condition::Create".into(),
            Condition::Set(field) => format!("Condition::Set({})", way(field)),
            Condition::Unset(field) => format!("Condition::Unset({})", way(field)),
            Condition::Is(field, values) => {
                format!("Condition::Is({}, {})", way(field), self.values(&paths::below(at, field), values))
            }
            Condition::None(fields) => format!("Condition::None({})", ways(fields)),
            Condition::Many(fields) => format!("Condition::Many({})", ways(fields)),
            Condition::Single(field) => format!("Condition::Single({})", way(field)),
            Condition::Text(field) => format!("Condition::Text({})", way(field)),
            Condition::Blank(field) => format!("Condition::Blank({})", way(field)),
            Condition::Member(field) => {
                let before: Vec<&str> = self.members.iter().copied().take_while(|member| member != field).collect();
                format!("Condition::All(&[Condition::Set({}), Condition::None({})])", way(field), ways(&before))
            }
            Condition::Begins(field, texts) => {
                format!("Condition::Begins({}, {})", way(field), strings(&texts.iter().collect::<Vec<_>>()))
            }
            Condition::Noted(field, set) => {
                format!("Condition::Noted({}, machinery::options::{})", way(field), constant(set))
            }
            Condition::Uses(gate) => format!("Condition::Uses({})", string(gate)),
            Condition::Not(inner) => format!("Condition::Not(&{})", self.condition(at, inner)),
            Condition::Was(inner) => format!("Condition::Was(&{})", self.condition(at, inner)),
            Condition::Any(_) => format!("Condition::Any(&[{}])", inner()),
            Condition::All(_) => format!("Condition::All(&[{}])", inner()),
            Condition::Some(list, _) => format!("Condition::Some({}, &[{}])", way(list), inner()),
            Condition::Fewer(list, _) => format!("Condition::Fewer({}, &[{}])", way(list), inner()),
            Condition::More(list, _) => format!("Condition::More({}, &[{}])", way(list), inner()),
            Condition::Preceded(_) => format!("Condition::Preceded(&[{}])", inner()),
            Condition::Flips(_) => format!("Condition::Flips(&[{}])", inner()),
            Condition::Above(field, number) => format!("Condition::Above({}, {number})", way(field)),
            Condition::Differs(field, except) => format!("Condition::Differs({}, {})", way(field), ways(except)),
            Condition::Zero(field) => format!("Condition::Zero({})", way(field)),
            Condition::Matches(field, pattern) => format!("Condition::Matches({}, {})", way(field), string(pattern)),
            Condition::NoError => "Condition::NoError".into(),
            Condition::Named(name, _) => named(&self.model.structs[self.home.0], name),
            Condition::Changed(field) => format!("Condition::Changed({})", way(field)),
            Condition::Resized(field) => format!("Condition::Resized({})", way(field)),
            Condition::SentEmpty(field) => format!("Condition::SentEmpty({})", way(field)),
            Condition::Same(one, other) => format!("Condition::Same({}, {})", way(one), way(other)),
            Condition::Holds(field, assertions) => {
                let of = paths::below(at, field);
                let assertions: Vec<String> = assertions.iter().map(|one| self.assertion(&of, one)).collect();
                format!("Condition::Holds({}, &[{}])", way(field), assertions.join(", "))
            }
            Condition::Version(versions) => {
                format!("Condition::Version({})", strings(&versions.iter().collect::<Vec<_>>()))
            }
            Condition::NoMember => format!("Condition::None({})", ways(self.members)),
            Condition::Several => "Condition::Several".into(),
            Condition::Part(parts) => {
                let parts: Vec<&str> =
                    parts.iter().map(|part| if part == "default" { "" } else { part.as_str() }).collect();
                format!("Condition::Part({})", strings(&parts))
            }
            Condition::Option(option) => format!("Condition::Option(machinery::options::{})", constant(option)),
            Condition::Subresource(name) => format!("Condition::Subresource({})", string(name)),
            Condition::Gate(gate) => format!("Condition::Gate({})", string(gate)),
        }
    }

    fn conditions(&self, at: &str, conditions: &[Condition]) -> String {
        conditions.iter().map(|condition| self.condition(at, condition)).collect::<Vec<_>>().join(", ")
    }

    fn assertion(&self, field: &str, assertion: &Assertion) -> String {
        let nested_at = |field: &str, inner: &[Assertion]| {
            inner.iter().map(|one| self.assertion(field, one)).collect::<Vec<_>>().join(", ")
        };
        let nested = |inner: &[Assertion]| nested_at(field, inner);
        let text = match assertion {
            Assertion::Required(detail) => format!("Required({})", string(detail)),
            Assertion::Filled(detail) => format!("Filled({})", string(detail)),
            Assertion::Optional => "Optional".into(),
            Assertion::Forbidden(detail) => format!("Forbidden({})", string(detail)),
            Assertion::Missing(detail) => format!("Missing({})", string(detail)),
            Assertion::Positive(detail) => format!("Positive({})", string(detail)),
            Assertion::NotNegative(detail) => format!("NotNegative({})", string(detail)),
            Assertion::Invalid(detail) => format!("Invalid({})", string(detail)),
            Assertion::InvalidAs(shown, detail) => format!("InvalidAs({}, {})", string(shown), string(detail)),
            Assertion::InvalidNull(detail) => format!("InvalidNull({})", string(detail)),
            Assertion::Refused(detail) => format!("Refused({})", string(detail)),
            Assertion::Choose(option, conditions) => {
                format!("Choose(machinery::options::{}, &[{}])", constant(option), self.conditions("", conditions))
            }
            Assertion::Tell(option) => format!("Tell(machinery::options::{})", constant(option)),
            Assertion::InvalidOmitted(detail) => format!("InvalidOmitted({})", string(detail)),
            Assertion::Unsupported(values) => format!("Unsupported({})", self.values(field, values)),
            Assertion::Member(detail) => format!("Member({}, {})", string(detail), ways(self.members)),
            Assertion::Valid => "Valid".into(),
            Assertion::Ratchet => "Ratchet".into(),
            Assertion::Distinct(fields, detail) => format!("Distinct({}, {})", ways(fields), string(detail)),
            Assertion::Unrepeated(detail) => format!("Unrepeated({})", string(detail)),
            Assertion::Immutable(detail) => format!("Immutable({})", string(detail)),
            Assertion::Unchanged(detail) => format!("Unchanged({})", string(detail)),
            Assertion::Min(min, detail) => format!("Min({min}, {})", string(detail)),
            Assertion::Max(max, detail) => format!("Max({max}, {})", string(detail)),
            Assertion::Range(min, max, detail) => format!("Range({min}, {max}, {})", string(detail)),
            Assertion::AtMost(field, detail) => format!("AtMost({}, {})", way(field), string(detail)),
            Assertion::AtLeast(field, detail) => format!("AtLeast({}, {})", way(field), string(detail)),
            Assertion::MoreThan(field, detail) => format!("MoreThan({}, {})", way(field), string(detail)),
            Assertion::Grows(detail) => format!("Grows({})", string(detail)),
            Assertion::Selected(field, detail) => format!("Selected({}, {})", way(field), string(detail)),
            Assertion::Port => "Port".into(),
            Assertion::MaxBytes(max, detail) => format!("MaxBytes({max}, {})", string(detail)),
            Assertion::MaxItems(max, detail) => format!("MaxItems({max}, {})", string(detail)),
            Assertion::MaxTotal(max) => format!("MaxTotal({max})"),
            Assertion::Format(word) => format!("Format(machinery::format::field::{word})"),
            Assertion::Name(word) => format!("Name(machinery::format::NameRule::{})", word.to_upper_camel_case()),
            Assertion::OneOf(values) => format!("OneOf({})", self.values(field, values)),
            Assertion::JsonObject => "JsonObject".into(),
            Assertion::Each(inner) => format!("Each(&[{}])", nested(inner)),
            Assertion::Keys(inner) => format!("Keys(&[{}])", nested(inner)),
            Assertion::EachKey(inner) => format!("EachKey(&[{}])", nested(inner)),
            Assertion::Key(inner) => format!("Key(&[{}])", nested(inner)),
            Assertion::Amount => "Amount".into(),
            Assertion::ShortKeys(bytes, inner) => format!("ShortKeys({bytes}, &[{}])", nested(inner)),
            Assertion::Paired(field, inner) => format!("Paired({}, &[{}])", string(field), nested(inner)),
            Assertion::Labels => "Labels".into(),
            Assertion::Annotations => "Annotations".into(),
            Assertion::Open(sets) => {
                let sets: Vec<String> =
                    sets.iter().map(|set| format!("machinery::options::{}", constant(set))).collect();
                format!("Open(&[{}])", sets.join(", "))
            }
            Assertion::Note(set, key) => format!("Note(machinery::options::{}, {})", constant(set), way(key)),
            Assertion::Noted(set, detail) => {
                format!("Noted(machinery::options::{}, {})", constant(set), string(detail))
            }
            Assertion::Unnoted(set, detail) => {
                format!("Unnoted(machinery::options::{}, {})", constant(set), string(detail))
            }
            Assertion::Json(inner) => format!("Json(&[{}])", nested(inner)),
            Assertion::Show(other, inner) => format!("Show({}, &[{}])", way(other), nested(inner)),
            Assertion::Field(below, inner) => {
                format!("Field({}, &[{}])", way(below), nested_at(&paths::below(field, below), inner))
            }
            Assertion::At(name, inner) => format!("At({}, &[{}])", string(name), nested(inner)),
            Assertion::Below(part) => format!("Below({})", string(part)),
            Assertion::Inlined => "Inlined".into(),
            Assertion::ByHand(function) => format!("ByHand({})", self.by_hand(function)),
        };
        format!("Assertion::{text}")
    }

    /// Wire values: names of variants where the field is an enum, the text itself where it is not.
    fn values(&self, field: &str, values: &[String]) -> String {
        let place = paths::follow(self.model, self.home, field).ok();
        let of = place.and_then(|place| self.enum_of(&place.field.ty));
        let wire = |word: &String| {
            let variant = of.and_then(|of| of.variants.iter().find(|(name, ..)| name == word));
            variant.map_or_else(|| word.clone(), |(_, value, _)| value.clone())
        };
        let all = || of.map(|of| of.variants.iter().map(|(_, value, _)| value.clone()).collect());
        let values: Vec<String> = match values {
            [] => all().unwrap_or_default(),
            values => values.iter().map(wire).collect(),
        };
        strings(&values.iter().collect::<Vec<_>>())
    }

    /// A closure that calls a function for the structs that a field holds; the function tells their type.
    fn by_hand(&self, function: &str) -> String {
        let function = functions::place(self.model, &self.model.structs[self.home.0].module, function);
        format!(
            "|v, path, new, old| if let Some(new) = new.downcast() {{ \
             crate::{function}(v, path, new, old.and_then(|old| old.downcast())) }}"
        )
    }

    fn enum_of(&self, ty: &TypeRef) -> Option<&Enum> {
        match ty {
            TypeRef::Enum(id) => Some(&self.model.enums[id.0]),
            TypeRef::List(inner) | TypeRef::Map(inner) => self.enum_of(inner),
            _ => None,
        }
    }
}

/// The way to a field; none for the struct itself.
fn way(field: &str) -> String {
    strings(&paths::names(field))
}

/// The ways to fields.
fn ways<S: AsRef<str>>(fields: &[S]) -> String {
    let ways: Vec<String> = fields.iter().map(|field| way(field.as_ref())).collect();
    format!("&[{}]", ways.join(", "))
}
