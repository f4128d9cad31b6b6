//! Checks of fields.

use super::at::{At, filled, has_required, is_set, length, shown, zero_is_unset};
use super::rule::{GatedRule, TagRule, UpdateConstraint};
use super::{Run, ValidationScope, plan};
use crate::def::{FieldInfo, Shape};
use crate::field_error::{BadValue, FieldError};
use crate::field_path::Path;
use crate::reflect::{Map, Owned, Value};

impl Run<'_> {
    /// Runs a check. Returns true if it failed, if an optional field is unset, or for a forbidden field.
    pub(super) fn check(&mut self, check: &GatedRule, at: &At<'_>) -> bool {
        if check.gates.iter().any(|(gate, wanted)| self.with.context.enabled(gate) != *wanted) {
            return false;
        }
        let before = self.errors.len();
        match &check.rule {
            TagRule::Optional => return !is_set(at.shape, at.new),
            TagRule::Forbidden => {
                if is_set(at.shape, at.new) {
                    self.errors.push(FieldError::forbidden(at.path, ""));
                }
                return true;
            }
            TagRule::Required => {
                if self.is_missing(at) {
                    self.errors.push(FieldError::required(at.path, ""));
                }
            }
            TagRule::Immutable => {
                // Parts of a new item are not changed, and neither is an omitted zero.
                let is_changed = self.with.scope == ValidationScope::Tagged || at.old.is_some_and(|old| old != at.new);
                if self.update && is_changed {
                    let value = if self.with.scope == ValidationScope::Tagged { never_shown() } else { shown(at.new) };
                    self.errors.push(FieldError::invalid(at.path, value, "field is immutable"));
                }
            }
            TagRule::Update(kinds) => kinds.iter().for_each(|kind| self.updated(*kind, at)),
            TagRule::MinItems(min) if length(at.new) < *min => {
                self.errors.push(FieldError::too_few(at.path, length(at.new), *min));
            }
            TagRule::MaxItems(max) | TagRule::MaxProperties(max) if length(at.new) > *max => {
                self.errors.push(FieldError::too_many(at.path, Some(length(at.new)), *max));
            }
            TagRule::MinItems(_) | TagRule::MaxItems(_) | TagRule::MaxProperties(_) => {}
            TagRule::Unique(keys) => self.unique(keys, at.new, at.path),
            TagRule::EachVal(inner) => self.each_value(inner, at),
            TagRule::EachKey(inner) => self.each_key(inner, at),
            TagRule::Subfield(name, inner) => self.subfield(name, inner, at),
            scalar => self.scalars(scalar, at),
        }
        self.errors.len() > before
    }

    /// Whether a required field is missing.
    fn is_missing(&self, at: &At<'_>) -> bool {
        if self.with.scope == ValidationScope::Tagged {
            return !is_set(at.shape, at.new);
        }
        match (at.shape, at.new) {
            // Whether an embedded struct is present depends on the request document, because
            // defaults may have filled it.
            (Shape::Struct(def), Value::Struct(value)) => {
                let is_zero = value == Owned::new(def).as_ref();
                let is_untouched = is_zero || (has_required(def) && value == filled(def).as_ref());
                is_untouched && self.was_sent(at.path) == Some(false)
            }
            _ if is_set(at.shape, at.new) => false,
            _ => zero_is_unset(at.shape) || self.was_sent(at.path) == Some(false),
        }
    }

    /// Whether the request document omits a required field.
    pub(super) fn omits_required_field(&self, field: &plan::FieldPlan, at: &At<'_>) -> bool {
        let is_required = field.first.iter().any(|check| matches!(check.rule, TagRule::Required));
        is_required && self.is_missing(at) && self.was_sent(at.path) == Some(false)
    }

    fn updated(&mut self, kind: UpdateConstraint, at: &At<'_>) {
        let Some(old) = at.old.filter(|_| self.update) else { return };
        let (before, after) = (is_set(at.shape, old), is_set(at.shape, at.new));
        let (wrong, done) = match kind {
            UpdateConstraint::Set => (!before && after, "set once created"),
            UpdateConstraint::Unset => (before && !after, "cleared once set"),
            UpdateConstraint::Modify => (before && after, "modified once set"),
        };
        if wrong {
            self.errors.push(FieldError::invalid(at.path, never_shown(), format!("field cannot be {done}")));
        }
    }

    /// Checks a rule on a scalar, or on each scalar of a list or map.
    fn scalars(&mut self, rule: &TagRule, at: &At<'_>) {
        let path = at.path;
        match at.new {
            Value::List(items) => {
                for (i, item) in (0..items.len()).filter_map(|i| Some((i, items.get(i)?))) {
                    self.scalar(rule, item, &path.index(i));
                }
            }
            Value::Map(entries) => {
                let old = match at.old {
                    Some(Value::Map(old)) if self.update && self.with.scope == ValidationScope::Declared => Some(old),
                    _ => None,
                };
                entries.for_each(|key, value| {
                    if old.and_then(|old| old.get(key)) != Some(value) {
                        self.scalar(rule, value, &path.key(key));
                    }
                });
            }
            value => self.scalar(rule, value, path),
        }
    }

    fn scalar(&mut self, rule: &TagRule, value: Value<'_>, path: &Path<'_>) {
        match value {
            Value::String(v) => self.string(rule, v, path),
            Value::I32(v) => self.number(rule, v.into(), path),
            Value::I64(v) => self.number(rule, v, path),
            Value::F64(v) => self.fraction(rule, v, path),
            _ => {}
        }
    }

    fn fraction(&mut self, rule: &TagRule, value: f64, path: &Path<'_>) {
        let detail = match rule {
            TagRule::Min(min) if value < *min as f64 => format!("must be greater than or equal to {min}"),
            TagRule::Max(max) if value > *max as f64 => format!("must be less than or equal to {max}"),
            _ => return,
        };
        self.errors.push(FieldError::invalid(path, BadValue::Json(value.to_string()), detail));
    }

    fn number(&mut self, rule: &TagRule, value: i64, path: &Path<'_>) {
        let detail = match rule {
            TagRule::Min(min) if value < *min => format!("must be greater than or equal to {min}"),
            TagRule::Max(max) if value > *max => format!("must be less than or equal to {max}"),
            _ => return,
        };
        self.errors.push(FieldError::invalid(path, value, detail));
    }

    fn string(&mut self, rule: &TagRule, value: &str, path: &Path<'_>) {
        match rule {
            TagRule::MinLength(min) if value.chars().count() < *min => {
                self.errors.push(FieldError::too_short(path, value, *min));
            }
            TagRule::MaxLength(max) if value.len() > *max && value.chars().count() > *max => {
                self.errors.push(FieldError::too_long_characters(path, *max));
            }
            TagRule::MaxBytes(max) if value.len() > *max => self.errors.push(FieldError::too_long(path, *max)),
            TagRule::Pattern(regex) if !regex.is_match(value) => {
                let detail = format!("must match the regex {regex}");
                self.errors.push(FieldError::invalid(path, value, detail));
            }
            TagRule::Format(format) => self.errors.extend(format.check(path, value)),
            TagRule::Enum(info) => self.enumerated(info, value, path),
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

    fn each_value(&mut self, inner: &GatedRule, at: &At<'_>) {
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

    /// Checks the keys of a map that an update adds, at the path of the map.
    fn each_key(&mut self, inner: &GatedRule, at: &At<'_>) {
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

    fn subfield(&mut self, name: &str, inner: &GatedRule, at: &At<'_>) {
        let Value::Struct(new) = at.new else { return };
        let (Some(value), Some(field)) = (new.by_name(name), new.def().json_field(name)) else { return };
        let old = at.old.and_then(Value::as_struct).and_then(|old| old.by_name(name));
        if self.update && old == Some(value) {
            return;
        }
        self.check(inner, &At { shape: field.shape(), path: &at.path.child(name), new: value, old });
    }
}

/// What upstream passes to errors about changes (a literal nil): the empty list or map of the
/// request does not replace it.
fn never_shown() -> BadValue {
    BadValue::Exact("null".to_owned())
}
