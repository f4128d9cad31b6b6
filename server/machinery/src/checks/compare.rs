//! Comparisons with other fields of the struct and with stored values.

use std::cmp::Ordering;

use super::Assertion;
use super::of::Of;
use crate::hooks::Validation;
use crate::reflect::{List, Map, Ref, Value};
use crate::scalar::IntOrString;
use crate::selector::LabelSelector;

impl Validation<'_> {
    pub(super) fn compare(&mut self, assertion: &Assertion, of: &Of<'_>) {
        let detail = match *assertion {
            Assertion::AtMost(field, detail) if is(of, field, Ordering::is_gt) => detail,
            Assertion::AtLeast(field, detail) if is(of, field, Ordering::is_lt) => detail,
            Assertion::MoreThan(field, detail) if is(of, field, Ordering::is_le) => detail,
            Assertion::Selected(field, detail) if !is_selected(of, field) => detail,
            Assertion::Grows(detail) => {
                if let Some(old) = of.old.and_then(number)
                    && of.number().is_none_or(|new| new < old)
                {
                    self.invalid(of.path, of.number().unwrap_or_default(), detail);
                }
                return;
            }
            _ => return self.assert_scalar(assertion, of),
        };
        self.invalid(of.path, of.shown(), detail);
    }
}

/// Compares a value with another field of the struct; false if one of them is unset.
fn is(of: &Of<'_>, field: &[&str], wrong: fn(Ordering) -> bool) -> bool {
    let order = match (of.new, of.of_home(field).new) {
        (Value::Time(one), Value::Time(other)) => Some(one.cmp(&other)),
        (Value::Quantity(one), Value::Quantity(other)) => Some(one.cmp(other)),
        (one, other) => number(one).zip(number(other)).map(|(one, other)| one.cmp(&other)),
    };
    order.is_some_and(wrong)
}

fn number(value: Value<'_>) -> Option<i64> {
    match value {
        Value::I32(number) => Some(number.into()),
        Value::I64(number) => Some(number),
        Value::IntOrString(IntOrString::Int(number)) => Some((*number).into()),
        _ => None,
    }
}

/// Whether the selector in another field matches labels. An unset selector matches nothing, a
/// malformed one everything.
fn is_selected(of: &Of<'_>, field: &[&str]) -> bool {
    let Value::Struct(selector) = of.of_home(field).new else { return false };
    let mut labels = Vec::new();
    if let Some(Value::Map(Map::String(wanted))) = selector.by_name("matchLabels") {
        labels.extend(wanted.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    }
    let mut expressions = Vec::new();
    if let Some(Value::StructList(wanted)) = selector.by_name("matchExpressions") {
        expressions.extend(wanted.iter().filter_map(|one| {
            let text = |name| one.by_name(name).and_then(Value::as_str);
            match one.by_name("values") {
                Some(Value::List(List::String(values))) => Some((text("key")?, text("operator")?, values.as_slice())),
                _ => None,
            }
        }));
    }
    let Ok(selector) = LabelSelector::from_api(labels, expressions) else { return true };
    let Value::Map(Map::String(labels)) = of.new else { return true };
    selector.matches(|key| labels.get(key).map(String::as_str))
}

/// Whether two values are equal except at these paths. A struct without other fields equals none.
pub(super) fn is_alike(new: Value<'_>, old: Value<'_>, except: &[&[&str]]) -> bool {
    if except.is_empty() {
        return new == old;
    }
    match (new, old) {
        _ if except.iter().any(|way| way.is_empty()) => true,
        (Value::Struct(new), Value::Struct(old)) => {
            below(new, except).zip(below(old, except)).all(|((new, except), (old, _))| is_alike(new, old, &except))
        }
        (Value::Struct(one), Value::Null) | (Value::Null, Value::Struct(one)) => {
            below(one, except).all(|(value, except)| value.is_empty() || except.iter().any(|way| way.is_empty()))
        }
        (Value::StructList(new), Value::StructList(old)) => {
            let is_alike = |(new, old)| is_alike(Value::Struct(new), Value::Struct(old), except);
            new.len() == old.len() && new.iter().zip(old.iter()).all(is_alike)
        }
        _ => new == old,
    }
}

/// The fields of a struct, each with the rest of the paths that start with it.
fn below<'a>(of: Ref<'a>, ways: &[&'a [&'a str]]) -> impl Iterator<Item = (Value<'a>, Vec<&'a [&'a str]>)> {
    of.def().fields.iter().enumerate().map(move |(index, field)| {
        let goes_on = |way: &&'a [&'a str]| way.split_first().filter(|(name, _)| **name == field.json);
        let ways = ways.iter().filter_map(|way| goes_on(way).map(|(_, rest)| rest)).collect();
        (of.get(index), ways)
    })
}
