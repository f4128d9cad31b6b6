//! Declarative validation: the engine behind the constraints of `api-defs/`.
//!
//! It validates a struct like the Go code of upstream's validation-gen
//! (`k8s.io/apimachinery/pkg/api/validate`): the checks of each field, those that can skip others
//! first, then the unions and rules of the struct, and all structs below. Values that an update
//! does not change are not validated again ("ratcheting"), so that stricter rules do not block
//! updates of stored objects. List items are matched with their old form by key, or by value in a
//! set. The checks of a type are compiled at first use, and subtrees without checks are skipped.
//!
//! The hand-written function of a struct (`#[validate(by_hand = ..)]`) runs before its fields are
//! validated.

mod at;
mod check;
mod plan;
mod rule;
mod scope;
mod tag;
#[cfg(test)]
mod tests;
mod union;

use std::collections::{HashMap, HashSet};

use crate::def::{ListType, RuleDef};
use crate::field_error::{BadValue, FieldError};
use crate::field_path::Path;
use crate::gates::uses_gate;
use crate::hooks::{Validation, WriteContext};
use crate::protobuf;
use crate::reflect::{Ref, StructList, StructMap, Value};

pub(crate) use plan::ValidationPlan;
pub use scope::ValidationScope;
pub use tag::unknown_tags;

/// Which half of a validation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// The whole validation.
    Both,
    /// Hand-written functions, which take objects in hub form.
    Functions,
    /// Everything else, which a version may declare on its own form.
    Words,
}

/// Evaluates the CEL rules of a struct. This crate does not depend on the CEL engine.
pub trait RuleEvaluator {
    /// Calls `report` for each rule that does not hold or cannot be evaluated.
    fn evaluate(&self, new: Ref<'_>, old: Option<Ref<'_>>, report: &mut dyn FnMut(&'static RuleDef, RuleFailure));
}

/// The reason why a rule is reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleFailure {
    /// The rule does not hold; with its message.
    Broken(String),
    /// The evaluation failed; with the reason.
    Failed(String),
}

/// The input of a validation besides the object.
#[derive(Clone, Copy)]
pub struct Validator<'a> {
    /// The part of the declarations that is enforced.
    pub scope: ValidationScope,
    /// The half that runs.
    pub half: Half,
    /// The context of the write. Its feature gates decide `k8s:ifEnabled` and `k8s:ifDisabled`.
    pub context: &'a WriteContext,
    /// Evaluator of CEL rules; without it they are not evaluated.
    pub rules: Option<&'a dyn RuleEvaluator>,
}

impl Validator<'_> {
    /// Appends the errors of `new`; `old` is the stored object of an update.
    pub fn validate(&self, new: Ref<'_>, old: Option<Ref<'_>>, path: &Path<'_>, errors: &mut Vec<FieldError>) {
        if self.scope == ValidationScope::Tagged {
            Validation::new(self.context, errors).checks(path, new, old);
        }
        Run { with: self, stored: old, update: old.is_some(), omitted_path: String::new(), errors }
            .structure(new, old, path);
    }
}

/// A running validation.
struct Run<'r> {
    with: &'r Validator<'r>,
    /// The stored object of an update.
    stored: Option<Ref<'r>>,
    /// Whether this is an update, also for items without an old form.
    update: bool,
    /// The path of a required field that the request document omits, last found in an unchanged
    /// part.
    omitted_path: String,
    errors: &'r mut Vec<FieldError>,
}

/// Whether a path is that of a place or below it.
fn is_at_or_below(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

impl Run<'_> {
    /// Whether gated values are allowed: the gate is enabled, or the stored object uses it.
    fn has_gate(&self, gate: &str) -> bool {
        self.with.context.enabled(gate) || self.stored.is_some_and(|stored| uses_gate(stored, gate))
    }

    fn structure(&mut self, new: Ref<'_>, old: Option<Ref<'_>>, path: &Path<'_>) {
        if self.with.half != Half::Words {
            self.by_hand(new, old, path);
        }
        let plan = ValidationPlan::of(new.def(), self.with.scope);
        if self.with.half != Half::Functions {
            plan.unions.iter().for_each(|union| self.union(union, new, old, path));
        }
        for field in &plan.fields {
            let def = &new.def().fields[field.index];
            let (value, before) = (new.get(field.index), old.map(|old| old.get(field.index)));
            if def.json.is_empty() {
                self.field(field, value, before, path);
            } else {
                self.field(field, value, before, &path.child(def.json));
            }
        }
        if self.with.half != Half::Functions {
            self.rules(new, old, path);
        }
    }

    /// Runs the hand-written function of a struct.
    ///
    /// Functions of upstream's kinds call those of nested types themselves, some with options. With
    /// [`ValidationScope::Declared`], the function of a type runs wherever the type is used.
    fn by_hand(&mut self, new: Ref<'_>, old: Option<Ref<'_>>, path: &Path<'_>) {
        if let Some(by_hand) =
            new.def().validate.filter(|_| self.with.scope == ValidationScope::Declared || path.is_root())
        {
            by_hand(&mut Validation::new(self.with.context, self.errors), path, new, old);
        }
    }

    fn field(&mut self, field: &plan::FieldPlan, new: Value<'_>, old: Option<Value<'_>>, path: &Path<'_>) {
        let runs_declarations = self.with.half != Half::Functions;
        if self.update && old == Some(new) && !(runs_declarations && self.omits_required(field, new, path)) {
            return;
        }
        let continues_below = !runs_declarations || self.checks(field, new, old, path);
        if field.below && continues_below {
            // An empty embedded struct was absent.
            let is_declared = self.with.scope == ValidationScope::Declared;
            let old = old.filter(|old| !is_declared || at::is_present(field.shape, *old, true));
            self.below(field.list, new, old, path);
        }
    }

    /// Whether the request document omits a required field at or below an unchanged field.
    ///
    /// The struct does not show this, because an omitted zero value leaves it unchanged.
    fn omits_required(&mut self, field: &plan::FieldPlan, new: Value<'_>, path: &Path<'_>) -> bool {
        if self.with.scope != ValidationScope::Declared {
            return false;
        }
        if self.omits_required_field(field, &at::At { shape: field.shape, path, new, old: Some(new) }) {
            self.omitted_path = path.to_text();
            return true;
        }
        if !field.below || !at::is_present(field.shape, new, true) {
            return false;
        }
        // Called for each field on the path to an omitted one: a traversal for each would be
        // quadratic in the depth.
        if self.omits_required_below(path) {
            return true;
        }
        match new {
            Value::Struct(new) => self.struct_omits_required(new, path),
            Value::StructList(new) => {
                new.iter().enumerate().any(|(i, item)| self.struct_omits_required(item, &path.index(i)))
            }
            Value::StructMap(new) => {
                let mut omits_required = false;
                new.for_each(|key, value| {
                    omits_required = omits_required || self.struct_omits_required(value, &path.key(key))
                });
                omits_required
            }
            _ => false,
        }
    }

    fn omits_required_below(&self, path: &Path<'_>) -> bool {
        !self.omitted_path.is_empty() && is_at_or_below(&self.omitted_path, &path.to_text())
    }

    fn struct_omits_required(&mut self, new: Ref<'_>, path: &Path<'_>) -> bool {
        ValidationPlan::of(new.def(), self.with.scope).fields.iter().any(|field| {
            let (def, value) = (&new.def().fields[field.index], new.get(field.index));
            match def.json.is_empty() {
                true => self.omits_required(field, value, path),
                false => self.omits_required(field, value, &path.child(def.json)),
            }
        })
    }

    /// Whether an item of a list or map is unchanged.
    fn is_unchanged(&mut self, new: Ref<'_>, old: Option<Ref<'_>>, path: &Path<'_>) -> bool {
        let runs_declarations = self.with.scope == ValidationScope::Declared && self.with.half != Half::Functions;
        let omits_required = |run: &mut Self| run.omits_required_below(path) || run.struct_omits_required(new, path);
        old == Some(new) && !(runs_declarations && omits_required(self))
    }

    /// Runs the checks of a field. Returns false when the fields below it must be skipped.
    fn checks(&mut self, field: &plan::FieldPlan, new: Value<'_>, old: Option<Value<'_>>, path: &Path<'_>) -> bool {
        let at = at::At { shape: field.shape, path, new, old };
        let before = self.errors.len();
        let is_declared = self.with.scope == ValidationScope::Declared;
        let mut stop = false;
        for check in &field.first {
            stop |= self.check(check, &at) && check.rule.short_circuits(self.with.scope);
        }
        let is_unset = || field.implied_optional && !at::is_present(field.shape, new, is_declared);
        if stop || (is_unset() && (is_declared || self.errors.len() == before)) {
            return false;
        }
        for check in &field.rest {
            self.check(check, &at);
        }
        true
    }

    /// Whether the request document has this field; `None` without a document.
    fn was_sent(&self, path: &Path<'_>) -> Option<bool> {
        let (path, subresource) = (path.to_text(), self.with.context.subresource.as_str());
        // A write of a subresource does not change the rest of the object, whatever its document
        // has there.
        let is_written = subresource.is_empty() || path.split(['.', '[']).next() == Some(subresource);
        if is_written { self.with.context.sent.has(&path) } else { None }
    }

    fn below(&mut self, list: ListType, new: Value<'_>, old: Option<Value<'_>>, path: &Path<'_>) {
        match new {
            Value::Struct(new) => self.structure(new, old.and_then(Value::as_struct), path),
            Value::StructList(new) => self.struct_list(list, new, old, path),
            Value::StructMap(new) => self.struct_map(new, old, path),
            _ => {}
        }
    }

    fn struct_list(&mut self, list: ListType, new: StructList<'_>, old: Option<Value<'_>>, path: &Path<'_>) {
        let old = match old {
            Some(Value::StructList(old)) => Some(old),
            _ => None,
        };
        let keys = match list {
            ListType::Map(keys) => Some(keys),
            ListType::Set => Some(&[][..]),
            ListType::Atomic | ListType::Unset => None,
        };
        let known = old.zip(keys).map(|(old, keys)| Known::new(old, keys));
        for (i, item) in new.iter().enumerate() {
            let before = known.as_ref().and_then(|known| known.find(item));
            let path = path.index(i);
            if !self.is_unchanged(item, before, &path) {
                self.structure(item, before, &path);
            }
        }
    }

    fn struct_map(&mut self, new: StructMap<'_>, old: Option<Value<'_>>, path: &Path<'_>) {
        let old = match old {
            Some(Value::StructMap(old)) => Some(old),
            _ => None,
        };
        new.for_each(|key, value| {
            let before = old.and_then(|old| old.get(key));
            let path = path.key(key);
            if !self.is_unchanged(value, before, &path) {
                self.structure(value, before, &path);
            }
        });
    }

    fn rules(&mut self, new: Ref<'_>, old: Option<Ref<'_>>, path: &Path<'_>) {
        let Some(evaluator) = self.with.rules.filter(|_| !new.def().rules.is_empty()) else { return };
        evaluator.evaluate(new, old, &mut |rule, failure| {
            let broken = match failure {
                RuleFailure::Broken(message) => message,
                RuleFailure::Failed(why) => {
                    self.errors.push(FieldError::invalid(path, BadValue::Omitted, why));
                    return;
                }
            };
            let at = if rule.field.is_empty() { *path } else { path.child(rule.field) };
            self.errors.push(match rule.reason.trim_start_matches("FieldValue") {
                "Required" => FieldError::required(&at, broken),
                "Forbidden" => FieldError::forbidden(&at, broken),
                "Duplicate" => FieldError::duplicate(&at, BadValue::Omitted),
                _ => FieldError::invalid(&at, BadValue::Omitted, broken),
            });
        });
    }

    /// Upstream's `Unique`: reports every duplicate. With [`ValidationScope::Declared`], it reports
    /// only the second of equal items, as for custom resources.
    fn unique(&mut self, keys: &[&str], new: Value<'_>, path: &Path<'_>) {
        let second_only = self.with.scope == ValidationScope::Declared;
        let before = self.errors.len();
        let mut seen: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut is_repeated = |identity: Vec<u8>| {
            let times = seen.entry(identity).or_default();
            *times += 1;
            *times == 2 || (*times > 2 && !second_only)
        };
        match new {
            Value::StructList(items) => {
                for (i, item) in items.iter().enumerate() {
                    if is_repeated(identity(keys, item)) {
                        let mut json = Vec::new();
                        crate::json::encode(item, &mut json);
                        let value = BadValue::Json(String::from_utf8_lossy(&json).into_owned());
                        self.errors.push(FieldError::duplicate(&path.index(i), value));
                    }
                }
            }
            Value::List(items) => {
                for (i, item) in (0..items.len()).filter_map(|i| Some((i, items.get(i)?))) {
                    if is_repeated(bytes(item)) {
                        self.errors.push(FieldError::duplicate(&path.index(i), at::shown(item)));
                    }
                }
            }
            _ => {}
        }
        // As in custom resources, a stored object with duplicates may keep them.
        if second_only && self.errors.len() > before && self.stored.is_some_and(repeats) {
            self.errors.truncate(before);
        }
    }
}

/// Whether a list of an object has duplicate items or keys.
fn repeats(of: Ref<'_>) -> bool {
    of.def().fields.iter().enumerate().any(|(index, field)| {
        let keys = match field.info.list {
            ListType::Set => Some(&[][..]),
            ListType::Map(keys) => Some(keys),
            ListType::Atomic | ListType::Unset => None,
        };
        match of.get(index) {
            Value::Struct(below) => repeats(below),
            Value::StructList(items) => {
                let mut seen = HashSet::new();
                let again = keys.is_some_and(|keys| !items.iter().all(|item| seen.insert(identity(keys, item))));
                again || items.iter().any(repeats)
            }
            Value::StructMap(entries) => {
                let mut found = false;
                entries.for_each(|_, entry| found |= repeats(entry));
                found
            }
            Value::List(items) if keys.is_some() => {
                let mut seen = HashSet::new();
                !(0..items.len()).filter_map(|i| items.get(i)).all(|item| seen.insert(bytes(item)))
            }
            _ => false,
        }
    })
}

fn bytes(scalar: Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    protobuf::encode_field(1, scalar, &mut out);
    out
}

/// The encoded keys of an item, or the whole item.
fn identity(keys: &[&str], item: Ref<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    if keys.is_empty() {
        protobuf::encode(item, &mut out);
    }
    for (key, number) in keys.iter().zip(1..) {
        if let Some(value) = item.by_name(key) {
            protobuf::encode_field(number, value, &mut out);
        }
    }
    out
}

/// The items of a stored list, by key.
struct Known<'k, 'a> {
    keys: &'k [&'k str],
    items: HashMap<Vec<u8>, Ref<'a>>,
}

impl<'k, 'a> Known<'k, 'a> {
    fn new(items: StructList<'a>, keys: &'k [&'k str]) -> Self {
        let mut known = HashMap::new();
        for item in items.iter() {
            // Of items with the same key, the first one counts.
            known.entry(identity(keys, item)).or_insert(item);
        }
        Known { keys, items: known }
    }

    fn find(&self, item: Ref<'_>) -> Option<Ref<'a>> {
        self.items.get(&identity(self.keys, item)).copied()
    }
}
