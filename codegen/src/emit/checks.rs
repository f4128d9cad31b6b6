//! Emits the checks of structs (`#[check(..)]`) as rows of `machinery::checks::CheckDef`.

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

/// The constant of a named condition of a struct.
fn named(s: &Struct, name: &str) -> String {
    constant(&format!("{}_{name}", s.name))
}

/// The constant with the checks of a struct, preceded by constants of named conditions; empty without
/// checks.
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
        // Checks of parts come first, so that validation can skip those of other parts early.
        let (parts, others): (Vec<_>, Vec<_>) =
            check.when.iter().partition(|condition| matches!(condition, Condition::Part(_)));
        let when: Vec<String> = parts.iter().chain(&others).map(|condition| writer.condition("", condition)).collect();
        let assertions: Vec<String> = check.assertions.iter().map(|one| writer.assertion(&check.field, one)).collect();
        let _ = writeln!(
            text,
            "    CheckDef {{\n        field: {},\n        when: &[{}],\n        assertions: &[{}],\n    }},",
            path_expr(&check.field),
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
    /// Members of the struct's union among the fields of the preceding checks.
    members: &'a [&'a str],
}

impl Writer<'_> {
    /// The expression of a condition of the struct, or of the items of a list `at`.
    fn condition(&self, at: &str, condition: &Condition) -> String {
        let inner_at = if condition.list().is_empty() { at.to_owned() } else { paths::below(at, condition.list()) };
        let inner = || self.conditions(&inner_at, condition.inner());
        match condition {
            Condition::Update => "Condition::Update".into(),
            Condition::Create => "Condition::Create".into(),
            Condition::Set(field) => format!("Condition::Set({})", path_expr(field)),
            Condition::Unset(field) => format!("Condition::Unset({})", path_expr(field)),
            Condition::Is(field, values) => {
                format!("Condition::Is({}, {})", path_expr(field), self.values(&paths::below(at, field), values))
            }
            Condition::None(fields) => format!("Condition::None({})", path_exprs(fields)),
            Condition::Many(fields) => format!("Condition::Many({})", path_exprs(fields)),
            Condition::Single(field) => format!("Condition::Single({})", path_expr(field)),
            Condition::Text(field) => format!("Condition::Text({})", path_expr(field)),
            Condition::Blank(field) => format!("Condition::Blank({})", path_expr(field)),
            Condition::Member(field) => {
                let before: Vec<&str> = self.members.iter().copied().take_while(|member| member != field).collect();
                format!(
                    "Condition::All(&[Condition::Set({}), Condition::None({})])",
                    path_expr(field),
                    path_exprs(&before)
                )
            }
            Condition::Begins(field, texts) => {
                format!("Condition::Begins({}, {})", path_expr(field), strings(&texts.iter().collect::<Vec<_>>()))
            }
            Condition::Noted(field, set) => {
                format!("Condition::Noted({}, machinery::options::{})", path_expr(field), constant(set))
            }
            Condition::Uses(gate) => format!("Condition::Uses({})", string(gate)),
            Condition::Not(inner) => format!("Condition::Not(&{})", self.condition(at, inner)),
            Condition::Was(inner) => format!("Condition::Was(&{})", self.condition(at, inner)),
            Condition::Any(_) => format!("Condition::Any(&[{}])", inner()),
            Condition::All(_) => format!("Condition::All(&[{}])", inner()),
            Condition::Some(list, _) => format!("Condition::Some({}, &[{}])", path_expr(list), inner()),
            Condition::Fewer(list, _) => format!("Condition::Fewer({}, &[{}])", path_expr(list), inner()),
            Condition::More(list, _) => format!("Condition::More({}, &[{}])", path_expr(list), inner()),
            Condition::Preceded(_) => format!("Condition::Preceded(&[{}])", inner()),
            Condition::Flips(_) => format!("Condition::Flips(&[{}])", inner()),
            Condition::Above(field, number) => format!("Condition::Above({}, {number})", path_expr(field)),
            Condition::Differs(field, except) => {
                format!("Condition::Differs({}, {})", path_expr(field), path_exprs(except))
            }
            Condition::Zero(field) => format!("Condition::Zero({})", path_expr(field)),
            Condition::Matches(field, pattern) => {
                format!("Condition::Matches({}, {})", path_expr(field), string(pattern))
            }
            Condition::NoError => "Condition::NoError".into(),
            Condition::Named(name, _) => named(&self.model.structs[self.home.0], name),
            Condition::Changed(field) => format!("Condition::Changed({})", path_expr(field)),
            Condition::Resized(field) => format!("Condition::Resized({})", path_expr(field)),
            Condition::SentEmpty(field) => format!("Condition::SentEmpty({})", path_expr(field)),
            Condition::Same(one, other) => format!("Condition::Same({}, {})", path_expr(one), path_expr(other)),
            Condition::Holds(field, assertions) => {
                let of = paths::below(at, field);
                let assertions: Vec<String> = assertions.iter().map(|one| self.assertion(&of, one)).collect();
                format!("Condition::Holds({}, &[{}])", path_expr(field), assertions.join(", "))
            }
            Condition::Version(versions) => {
                format!("Condition::Version({})", strings(&versions.iter().collect::<Vec<_>>()))
            }
            Condition::NoMember => format!("Condition::None({})", path_exprs(self.members)),
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
            Assertion::ChooseText(option) => format!("ChooseText(machinery::options::{})", constant(option)),
            Assertion::InvalidOmitted(detail) => format!("InvalidOmitted({})", string(detail)),
            Assertion::Unsupported(values) => format!("Unsupported({})", self.values(field, values)),
            Assertion::Member(detail) => format!("Member({}, {})", string(detail), path_exprs(self.members)),
            Assertion::Valid => "Valid".into(),
            Assertion::Ratchet => "Ratchet".into(),
            Assertion::Distinct(fields, detail) => format!("Distinct({}, {})", path_exprs(fields), string(detail)),
            Assertion::Unrepeated(detail) => format!("Unrepeated({})", string(detail)),
            Assertion::Immutable(detail) => format!("Immutable({})", string(detail)),
            Assertion::Unchanged(detail) => format!("Unchanged({})", string(detail)),
            Assertion::Min(min, detail) => format!("Min({min}, {})", string(detail)),
            Assertion::Max(max, detail) => format!("Max({max}, {})", string(detail)),
            Assertion::Range(min, max, detail) => format!("Range({min}, {max}, {})", string(detail)),
            Assertion::AtMost(field, detail) => format!("AtMost({}, {})", path_expr(field), string(detail)),
            Assertion::AtLeast(field, detail) => format!("AtLeast({}, {})", path_expr(field), string(detail)),
            Assertion::MoreThan(field, detail) => format!("MoreThan({}, {})", path_expr(field), string(detail)),
            Assertion::Grows(detail) => format!("Grows({})", string(detail)),
            Assertion::Selected(field, detail) => format!("Selected({}, {})", path_expr(field), string(detail)),
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
            Assertion::Note(set, key) => format!("Note(machinery::options::{}, {})", constant(set), path_expr(key)),
            Assertion::Noted(set, detail) => {
                format!("Noted(machinery::options::{}, {})", constant(set), string(detail))
            }
            Assertion::Unnoted(set, detail) => {
                format!("Unnoted(machinery::options::{}, {})", constant(set), string(detail))
            }
            Assertion::Json(inner) => format!("Json(&[{}])", nested(inner)),
            Assertion::Show(other, inner) => format!("Show({}, &[{}])", path_expr(other), nested(inner)),
            Assertion::Field(below, inner) => {
                format!("Field({}, &[{}])", path_expr(below), nested_at(&paths::below(field, below), inner))
            }
            Assertion::At(name, inner) => format!("At({}, &[{}])", string(name), nested(inner)),
            Assertion::Below(part) => format!("Below({})", string(part)),
            Assertion::Inlined => "Inlined".into(),
            Assertion::ByHand(function) => format!("ByHand({})", self.by_hand(function)),
        };
        format!("Assertion::{text}")
    }

    /// Wire values: those of the variants if the field is an enum, otherwise the texts themselves.
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

    /// A closure that calls a function for the structs of a field; the function's signature determines
    /// their type.
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

/// The path expression of a field; empty for the struct itself.
fn path_expr(field: &str) -> String {
    strings(&paths::names(field))
}

/// The path expressions of several fields.
fn path_exprs<S: AsRef<str>>(fields: &[S]) -> String {
    let path_exprs: Vec<String> = fields.iter().map(|field| path_expr(field.as_ref())).collect();
    format!("&[{}]", path_exprs.join(", "))
}
