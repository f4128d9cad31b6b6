//! One check of one field.

use regex::Regex;

use super::{Run, Scope};
use crate::def::{FieldInfo, Shape};
use crate::field_error::{BadValue, FieldError};
use crate::field_path::Path;
use crate::format::field::DeclaredFormat;
use crate::reflect::{List, Map, Owned, Value};

/// A rule, and when it is in force.
pub(super) struct Check {
    /// Its name as a tag, without `k8s:`; checks run in this order.
    pub tag: &'static str,
    /// Feature gates, and whether each has to be enabled or disabled.
    pub gates: Vec<(&'static str, bool)>,
    pub rule: Rule,
}

/// What a check asks for.
pub(super) enum Rule {
    Required,
    /// Asks for nothing, but nothing else is asked of an unset field.
    Optional,
    Forbidden,
    Immutable,
    Update(Vec<Update>),
    Min(i64),
    Max(i64),
    MinLength(usize),
    MaxLength(usize),
    MaxBytes(usize),
    MinItems(usize),
    MaxItems(usize),
    MaxProperties(usize),
    Pattern(Regex),
    Format(DeclaredFormat),
    /// The values of the field's enum.
    Enum(&'static FieldInfo),
    /// By these keys, or as a whole.
    Unique(Vec<&'static str>),
    EachVal(Box<Check>),
    EachKey(Box<Check>),
    Subfield(&'static str, Box<Check>),
}

/// What an update may not do to a field (upstream `validate.UpdateConstraint`).
#[derive(Clone, Copy)]
pub(super) enum Update {
    Set,
    Unset,
    Modify,
}

impl Rule {
    /// A pattern; the generator has refused those that do not compile.
    pub fn pattern(pattern: &str) -> Option<Rule> {
        Regex::new(pattern).ok().map(Rule::Pattern)
    }

    /// Whether nothing else is looked at when it fails (upstream's `ShortCircuit`).
    pub fn ends_the_matter(&self) -> bool {
        matches!(
            self,
            Rule::Required
                | Rule::Optional
                | Rule::Forbidden
                | Rule::Immutable
                | Rule::Update(_)
                | Rule::MaxItems(_)
                | Rule::MaxProperties(_)
        )
    }
}

/// A field, or a value in it.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub shape: Shape,
    pub path: &'a Path<'a>,
    pub new: Value<'a>,
    /// Nothing when there is no older form of what holds it.
    pub old: Option<Value<'a>>,
}

/// Whether a field holds something: an `Option` by being there, everything else by not being zero.
pub(super) fn is_set(shape: Shape, value: Value<'_>) -> bool {
    match (shape, value) {
        (Shape::Opt(_) | Shape::OptStruct(_), value) => !matches!(value, Value::Null),
        (_, Value::Quantity(v)) => !v.is_zero(),
        (_, Value::Duration(v)) => v.nanos() != 0,
        (_, Value::IntOrString(v)) => *v != Default::default(),
        (_, Value::Struct(v)) => v != Owned::new(v.def()).as_ref(),
        (_, value) => !value.is_empty(),
    }
}

/// A value as an error shows it.
fn shown(value: Value<'_>) -> BadValue {
    match value {
        Value::String(text) => text.into(),
        Value::I32(number) => number.into(),
        Value::I64(number) => number.into(),
        Value::Bool(value) => BadValue::Bool(value),
        Value::F64(number) => BadValue::Float(number),
        Value::Quantity(quantity) => BadValue::String(quantity.to_string()),
        Value::List(List::String(texts)) => BadValue::strings(texts),
        Value::Map(Map::String(texts)) => BadValue::string_map(texts),
        Value::Struct(of) => {
            let mut json = Vec::new();
            crate::json::encode(of, &mut json);
            BadValue::Json(String::from_utf8_lossy(&json).into_owned())
        }
        _ => BadValue::None,
    }
}

fn length(value: Value<'_>) -> usize {
    match value {
        Value::List(v) => v.len(),
        Value::StructList(v) => v.len(),
        Value::Map(v) => v.len(),
        Value::StructMap(v) => v.len(),
        _ => 0,
    }
}

impl Run<'_> {
    /// Whether the check ended the matter.
    pub(super) fn check(&mut self, check: &Check, at: &At<'_>) -> bool {
        if check.gates.iter().any(|(gate, wanted)| self.with.context.enabled(gate) != *wanted) {
            return false;
        }
        let before = self.errors.len();
        match &check.rule {
            Rule::Optional => return !is_set(at.shape, at.new),
            Rule::Forbidden => {
                if is_set(at.shape, at.new) {
                    self.errors.push(FieldError::forbidden(at.path, ""));
                }
                return true;
            }
            Rule::Required => {
                if !is_set(at.shape, at.new) {
                    self.errors.push(FieldError::required(at.path, ""));
                }
            }
            Rule::Immutable => {
                if self.update {
                    // Upstream shows no value.
                    let value = if self.with.scope == Scope::Tagged { BadValue::None } else { shown(at.new) };
                    self.errors.push(FieldError::invalid(at.path, value, "field is immutable"));
                }
            }
            Rule::Update(kinds) => kinds.iter().for_each(|kind| self.updated(*kind, at)),
            Rule::MinItems(min) if length(at.new) < *min => {
                self.errors.push(FieldError::too_few(at.path, length(at.new), *min));
            }
            Rule::MaxItems(max) | Rule::MaxProperties(max) if length(at.new) > *max => {
                self.errors.push(FieldError::too_many(at.path, Some(length(at.new)), *max));
            }
            Rule::MinItems(_) | Rule::MaxItems(_) | Rule::MaxProperties(_) => {}
            Rule::Unique(keys) => self.unique(keys, at.new, at.path),
            Rule::EachVal(inner) => self.each_value(inner, at),
            Rule::EachKey(inner) => self.each_key(inner, at),
            Rule::Subfield(name, inner) => self.subfield(name, inner, at),
            scalar => self.scalars(scalar, at.new, at.path),
        }
        self.errors.len() > before
    }

    fn updated(&mut self, kind: Update, at: &At<'_>) {
        let Some(old) = at.old.filter(|_| self.update) else { return };
        let (before, after) = (is_set(at.shape, old), is_set(at.shape, at.new));
        let (wrong, done) = match kind {
            Update::Set => (!before && after, "set once created"),
            Update::Unset => (before && !after, "cleared once set"),
            Update::Modify => (before && after, "modified once set"),
        };
        if wrong {
            self.errors.push(FieldError::invalid(at.path, BadValue::None, format!("field cannot be {done}")));
        }
    }

    /// A rule of a scalar, or of each that a list or map holds.
    fn scalars(&mut self, rule: &Rule, value: Value<'_>, path: &Path<'_>) {
        match value {
            Value::String(v) => self.string(rule, v, path),
            Value::I32(v) => self.number(rule, v.into(), path),
            Value::I64(v) => self.number(rule, v, path),
            Value::List(List::String(v)) => {
                v.iter().enumerate().for_each(|(i, v)| self.string(rule, v, &path.index(i)))
            }
            Value::List(List::I32(v)) => {
                v.iter().enumerate().for_each(|(i, v)| self.number(rule, i64::from(*v), &path.index(i)));
            }
            Value::List(List::I64(v)) => v.iter().enumerate().for_each(|(i, v)| self.number(rule, *v, &path.index(i))),
            Value::Map(Map::String(v)) => v.iter().for_each(|(k, v)| self.string(rule, v, &path.key(k))),
            _ => {}
        }
    }

    fn number(&mut self, rule: &Rule, value: i64, path: &Path<'_>) {
        let detail = match rule {
            Rule::Min(min) if value < *min => format!("must be greater than or equal to {min}"),
            Rule::Max(max) if value > *max => format!("must be less than or equal to {max}"),
            _ => return,
        };
        self.errors.push(FieldError::invalid(path, value, detail));
    }

    fn string(&mut self, rule: &Rule, value: &str, path: &Path<'_>) {
        match rule {
            Rule::MinLength(min) if value.chars().count() < *min => {
                self.errors.push(FieldError::too_short(path, value, *min));
            }
            Rule::MaxLength(max) if value.len() > *max && value.chars().count() > *max => {
                self.errors.push(FieldError::too_long_characters(path, *max));
            }
            Rule::MaxBytes(max) if value.len() > *max => self.errors.push(FieldError::too_long(path, *max)),
            Rule::Pattern(regex) if !regex.is_match(value) => {
                let detail = format!("must match the regex {regex}");
                self.errors.push(FieldError::invalid(path, value, detail));
            }
            Rule::Format(format) => self.errors.extend(format.check(path, value)),
            Rule::Enum(info) => self.enumerated(info, value, path),
            _ => {}
        }
    }

    fn enumerated(&mut self, info: &FieldInfo, value: &str, path: &Path<'_>) {
        let is_off = |known: &str| info.gated_values.iter().any(|(of, gate)| *of == known && !self.has_gate(gate));
        if info.enum_values.contains(&value) && !is_off(value) {
            return;
        }
        let mut known: Vec<&str> = info.enum_values.iter().copied().filter(|known| !is_off(known)).collect();
        known.sort_unstable();
        // Upstream's enums are named string types.
        self.errors.push(FieldError::not_supported(path, BadValue::json_string(value), &known));
    }

    fn each_value(&mut self, inner: &Check, at: &At<'_>) {
        match at.new {
            Value::StructList(items) => {
                for (i, item) in items.iter().enumerate() {
                    let path = at.path.index(i);
                    self.check(inner, &At { path: &path, new: Value::Struct(item), old: None, ..*at });
                }
            }
            _ => drop(self.check(inner, at)),
        }
    }

    /// Keys are checked at the path of their map, and only those that an update adds.
    fn each_key(&mut self, inner: &Check, at: &At<'_>) {
        let mut keys = Vec::new();
        match (at.new, at.old) {
            (Value::Map(Map::String(new)), Some(Value::Map(Map::String(old)))) if self.update => {
                keys.extend(new.keys().filter(|key| !old.contains_key(*key)).map(String::as_str));
            }
            (Value::Map(Map::String(new)), _) => keys.extend(new.keys().map(String::as_str)),
            (Value::StructMap(new), old) => new.for_each(|key, _| {
                let known = matches!(old, Some(Value::StructMap(old)) if old.get(key).is_some());
                if !(self.update && known) {
                    keys.push(key);
                }
            }),
            _ => {}
        }
        for key in keys {
            self.check(inner, &At { new: Value::String(key), old: None, ..*at });
        }
    }

    fn subfield(&mut self, name: &str, inner: &Check, at: &At<'_>) {
        let Value::Struct(new) = at.new else { return };
        let (Some(value), Some(field)) = (new.by_name(name), new.def().json_field(name)) else { return };
        let old = at.old.and_then(Value::as_struct).and_then(|old| old.by_name(name));
        if self.update && old == Some(value) {
            return;
        }
        self.check(inner, &At { shape: field.shape(), path: &at.path.child(name), new: value, old });
    }
}
