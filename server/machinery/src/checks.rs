//! Checks of upstream's hand-written validation, declared with `#[check(..)]`, in the order in which upstream makes them.
//!
//! A struct has a list of [`CheckDef`]s. Each looks at one field, under conditions, and asserts one thing after the other.
//! The assertion [`Assertion::Below`] goes on with the checks of the structs that the field holds.

#[cfg(test)]
mod tests;

use crate::def::{FieldDef, Shape};
use crate::field_error::{BadValue, FieldError};
use crate::field_path::Path;
use crate::format::NameRule;
use crate::hooks::{ValidateFn, Validation};
use crate::json;
use crate::reflect::{List, Map, Ref, Value};
use crate::scalar::Quantity;

/// A check of a struct (`#[check(..)]`).
#[derive(Clone, Copy, Debug)]
pub struct CheckDef {
    /// JSON names on the way to the field that is looked at; none for the struct itself.
    pub field: &'static [&'static str],
    /// The check is made if all of these hold.
    pub when: &'static [Condition],
    /// What is asserted, in order.
    pub assertions: &'static [Assertion],
}

/// What a check asserts of a field. A detail that is empty stands for upstream's usual one.
#[derive(Clone, Copy, Debug)]
pub enum Assertion {
    /// The field is not empty. Nothing else is asserted of an empty one.
    Required(&'static str),
    /// The field is not empty. What follows is asserted of an empty one, too.
    Filled(&'static str),
    /// Nothing else is asserted of an empty field.
    Optional,
    /// The field is empty.
    Forbidden(&'static str),
    /// The field is missing: for checks with conditions.
    Missing(&'static str),
    /// The field is invalid: for checks with conditions.
    Invalid(&'static str),
    /// An update leaves the field as it was.
    Immutable(&'static str),
    /// An update must not change the field, which is forbidden.
    Unchanged(&'static str),
    /// A number is at least this.
    Min(i64, &'static str),
    /// A number is at most this.
    Max(i64, &'static str),
    /// A number or a quantity is more than 0.
    Positive(&'static str),
    /// A number or a quantity is not less than 0.
    NotNegative(&'static str),
    /// A text has at most so many bytes.
    MaxBytes(usize),
    /// A list or map has at most so many items.
    MaxItems(usize),
    /// A text has a format.
    Format(TextCheck),
    /// A text is a name by a rule.
    Name(NameRule),
    /// A text is one of these. The message shows them in this order.
    OneOf(&'static [&'static str]),
    /// These hold for each item of a list and each value of a map.
    Each(&'static [Assertion]),
    /// These hold for each key of a map, at the path of the map.
    Keys(&'static [Assertion]),
    /// The checks of the structs in the field hold.
    Below,
    /// A function written by hand checks the structs in the field.
    ByHand(ValidateFn),
}

/// What is wrong with a text.
pub type TextCheck = fn(&Path<'_>, &str) -> Vec<FieldError>;

/// When a check is made. Fields are named by the JSON names on the way to them from the struct of the check.
#[derive(Clone, Copy, Debug)]
pub enum Condition {
    /// The object is changed, not created.
    Update,
    /// The object is created.
    Create,
    /// A field is not empty.
    Set(&'static [&'static str]),
    /// A field is empty.
    Unset(&'static [&'static str]),
    /// A text is one of these.
    Is(&'static [&'static str], &'static [&'static str]),
    /// A text is none of these.
    IsNot(&'static [&'static str], &'static [&'static str]),
    /// A subresource is written, or the object itself where this is empty.
    Subresource(&'static str),
    /// A feature gate is on.
    Gate(&'static str),
}

impl Validation<'_> {
    /// Makes the declared checks of a struct; `old` is its stored form, on updates.
    pub fn checks(&mut self, path: &Path<'_>, new: Ref<'_>, old: Option<Ref<'_>>) {
        for check in new.def().checks {
            let of = Of { path, field: None, new: Value::Struct(new), old: old.map(Value::Struct) };
            if check.when.iter().all(|condition| self.holds(*condition, of)) {
                self.walk(check.field, check.assertions, of);
            }
        }
    }

    /// Goes on to a field. Nothing is asserted of a field below a struct that is not there.
    fn walk(&mut self, field: &[&'static str], assertions: &[Assertion], of: Of<'_>) {
        let Some((name, rest)) = field.split_first() else { return self.assert_all(assertions, of) };
        if let Some((field, new, old)) = of.field(name) {
            self.walk(rest, assertions, Of { path: &of.path.child(name), field: Some(field), new, old });
        }
    }

    fn holds(&self, condition: Condition, of: Of<'_>) -> bool {
        let is = |field, known: &[&str]| known.contains(&of.at(field).new.as_str().unwrap_or_default());
        match condition {
            Condition::Update => of.old.is_some(),
            Condition::Create => of.old.is_none(),
            Condition::Set(field) => !of.at(field).is_empty(),
            Condition::Unset(field) => of.at(field).is_empty(),
            Condition::Is(field, known) => is(field, known),
            Condition::IsNot(field, known) => !is(field, known),
            Condition::Subresource(name) => self.context.subresource == name,
            Condition::Gate(gate) => self.context.enabled(gate),
        }
    }

    fn assert_all(&mut self, assertions: &[Assertion], of: Of<'_>) {
        for assertion in assertions {
            let empty = of.is_empty();
            match *assertion {
                Assertion::Required(detail) if empty => return self.required(of.path, detail),
                Assertion::Optional if empty => return,
                Assertion::Filled(detail) if empty => self.required(of.path, detail),
                Assertion::Forbidden(detail) if !empty => self.forbidden(of.path, detail),
                Assertion::Missing(detail) => self.required(of.path, detail),
                Assertion::Invalid(detail) => self.invalid(of.path, of.shown(), detail),
                Assertion::Immutable(detail) if of.old.is_some_and(|old| old != of.new) => {
                    self.invalid(of.path, of.shown(), or(detail, "field is immutable"));
                }
                Assertion::Unchanged(detail) if of.old.is_some_and(|old| old != of.new) => {
                    self.forbidden(of.path, detail)
                }
                Assertion::MaxItems(max) if length(of.new) > max => self.too_many(of.path, length(of.new), max),
                Assertion::Each(inner) => self.each(inner, of),
                Assertion::Keys(inner) => self.keys(inner, of),
                Assertion::Below => self.below(of, |v, path, new, old| v.checks(path, new, old)),
                Assertion::ByHand(function) => self.below(of, function),
                _ => self.assert_scalar(*assertion, of),
            }
        }
    }

    fn assert_scalar(&mut self, assertion: Assertion, of: Of<'_>) {
        if let Value::Quantity(quantity) = of.new {
            return self.assert_quantity(assertion, of, quantity);
        }
        let number = match of.new {
            Value::I32(number) => Some(i64::from(number)),
            Value::I64(number) => Some(number),
            _ => None,
        };
        match (assertion, number, of.new) {
            (Assertion::Min(min, detail), Some(number), _) if number < min => match detail {
                "" => self.invalid(of.path, number, format!("must be greater than or equal to {min}")),
                detail => self.invalid(of.path, number, detail),
            },
            (Assertion::Max(max, detail), Some(number), _) if number > max => match detail {
                "" => self.invalid(of.path, number, format!("must be less than or equal to {max}")),
                detail => self.invalid(of.path, number, detail),
            },
            (Assertion::Positive(detail), Some(number), _) if number <= 0 => {
                self.invalid(of.path, number, or(detail, "must be greater than zero"));
            }
            (Assertion::NotNegative(detail), Some(number), _) if number < 0 => {
                self.invalid(of.path, number, or(detail, "must be greater than or equal to 0"));
            }
            (Assertion::MaxBytes(max), _, Value::String(text)) if text.len() > max => self.too_long(of.path, max),
            (Assertion::Format(format), _, Value::String(text)) => self.errors.extend(format(of.path, text)),
            (Assertion::Name(rule), _, Value::String(text)) => self.name(of.path, text, rule),
            (Assertion::OneOf(known), _, Value::String(text)) if !known.contains(&text) => {
                self.not_supported(of.path, of.shown(), known);
            }
            _ => {}
        }
    }

    fn assert_quantity(&mut self, assertion: Assertion, of: Of<'_>, quantity: &Quantity) {
        let sign = quantity.sign();
        let detail = match assertion {
            Assertion::Positive(detail) if !sign.is_gt() => or(detail, "must be greater than zero"),
            Assertion::NotNegative(detail) if sign.is_lt() => or(detail, "must be greater than or equal to 0"),
            _ => return,
        };
        self.invalid(of.path, BadValue::json_string(&quantity.to_string()), detail);
    }

    fn each(&mut self, assertions: &[Assertion], of: Of<'_>) {
        match of.new {
            Value::List(List::String(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.assert_all(assertions, of.part(&of.path.index(index), Value::String(item)));
                }
            }
            Value::Map(Map::String(values)) => {
                for (key, value) in values {
                    self.assert_all(assertions, of.part(&of.path.key(key), Value::String(value)));
                }
            }
            Value::StructList(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.assert_all(assertions, of.part(&of.path.index(index), Value::Struct(item)));
                }
            }
            _ => {}
        }
    }

    fn keys(&mut self, assertions: &[Assertion], of: Of<'_>) {
        let mut keys = Vec::new();
        match of.new {
            Value::Map(map) => map.for_each(|key, _| keys.push(key)),
            Value::StructMap(map) => map.for_each(|key, _| keys.push(key)),
            _ => {}
        }
        for key in keys {
            self.assert_all(assertions, of.part(of.path, Value::String(key)));
        }
    }

    /// Calls `check` for each struct in a field. Items of lists and maps are checked without their stored form.
    fn below(&mut self, of: Of<'_>, check: ValidateFn) {
        match of.new {
            Value::Struct(new) => check(self, of.path, new, of.old.and_then(Value::as_struct)),
            Value::StructList(items) => {
                items.iter().enumerate().for_each(|(at, item)| check(self, &of.path.index(at), item, None));
            }
            Value::StructMap(map) => map.for_each(|key, value| check(self, &of.path.key(key), value, None)),
            _ => {}
        }
    }
}

/// A struct, a field of one, or a part of a field's value.
#[derive(Clone, Copy)]
struct Of<'a> {
    path: &'a Path<'a>,
    /// Nothing for a struct whose checks are made.
    field: Option<&'static FieldDef>,
    new: Value<'a>,
    old: Option<Value<'a>>,
}

impl<'a> Of<'a> {
    fn part(self, path: &'a Path<'a>, new: Value<'a>) -> Self {
        Of { path, new, old: None, ..self }
    }

    /// A field of the struct, and its new and its old value.
    fn field(self, name: &str) -> Option<(&'static FieldDef, Value<'a>, Option<Value<'a>>)> {
        let new = self.new.as_struct()?;
        let old = self.old.and_then(Value::as_struct).and_then(|old| old.by_name(name));
        Some((new.def().json_field(name)?, new.by_name(name)?, old))
    }

    /// What stands at the end of a way, or nothing.
    fn at(self, way: &[&str]) -> Self {
        way.iter().fold(self, |of, name| match of.field(name) {
            Some((field, new, old)) => Of { field: Some(field), new, old, ..of },
            None => Of { field: None, new: Value::Null, old: None, ..of },
        })
    }

    /// Whether Go's code would find nothing: nil, no text, no items. A number, a truth value and a struct in place are
    /// never empty, nor is what a pointer leads to.
    fn is_empty(self) -> bool {
        let is_pointer = matches!(self.field.map(FieldDef::shape), Some(Shape::Opt(_) | Shape::OptStruct(_)));
        match self.new {
            Value::Null => true,
            Value::Bool(_) | Value::I32(_) | Value::I64(_) | Value::F64(_) => false,
            value => !is_pointer && value.is_empty(),
        }
    }

    /// The value as messages show it. Texts of named types, and those behind pointers, are shown as JSON.
    fn shown(self) -> BadValue {
        let is_named = self.field.is_some_and(|field| {
            let is_pointer = matches!(field.shape(), Shape::Opt(_));
            is_pointer || !field.info.go_type.is_empty() || !field.info.enum_values.is_empty()
        });
        match self.new {
            Value::Bool(value) => BadValue::Bool(value),
            Value::I32(number) => number.into(),
            Value::I64(number) => number.into(),
            Value::F64(number) => BadValue::Float(number),
            Value::String(text) if is_named => BadValue::json_string(text),
            Value::String(text) => text.into(),
            Value::List(List::String(items)) => BadValue::strings(items),
            Value::Map(Map::String(values)) => BadValue::string_map(values),
            Value::Struct(value) => {
                let mut out = Vec::new();
                json::encode_internal(value, |_| None, &mut out);
                BadValue::Json(String::from_utf8_lossy(&out).into_owned())
            }
            _ => BadValue::None,
        }
    }
}

fn or(detail: &'static str, usual: &'static str) -> &'static str {
    if detail.is_empty() { usual } else { detail }
}

fn length(value: Value<'_>) -> usize {
    match value {
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        Value::StructList(list) => list.len(),
        Value::StructMap(map) => map.len(),
        _ => 0,
    }
}
