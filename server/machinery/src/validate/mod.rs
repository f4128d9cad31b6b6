//! Validation by declaration: the engine behind the constraints of `api-defs/`.
//!
//! It does to a struct what upstream's validation-gen makes Go code for (`k8s.io/apimachinery/pkg/api/validate`): each field's checks,
//! those that end the matter first, then the struct's unions and rules and all below. What an update leaves as it was is not looked at
//! again ("ratcheting"), so that tighter rules do not lock stored objects; items of lists find their old form by key, or by value in a
//! set. A type's checks are compiled when it is first met, and whole subtrees without any are passed over.
//!
//! A struct's hand-written function (`#[validate(by_hand = ..)]`) is called before its fields are looked at.

mod check;
mod plan;
mod tag;
#[cfg(test)]
mod tests;
mod union;

use std::collections::{HashMap, HashSet};

use crate::def::{ListType, RuleDef};
use crate::field_error::{BadValue, FieldError};
use crate::field_path::Path;
use crate::gates::uses_gate;
use crate::hooks::{Context, Validation};
use crate::protobuf;
use crate::reflect::{Ref, StructList, StructMap, Value};

pub(crate) use plan::Plan;
pub use tag::unknown_tags;

/// How far declarations are to be enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Constraints and tags only. For upstream's kinds, which are declared with enums, unions and required fields that upstream checks
    /// by hand, in other words or not at all; it is their tags that say what is enforced.
    Tagged,
    /// Everything a declaration says: also closed enums, unions, required fields.
    Declared,
}

/// Which half of what a declaration says is to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    Both,
    /// Functions written by hand. They take objects in their hub form.
    Functions,
    /// Everything else, which a version may say of its own form.
    Words,
}

/// Evaluates the CEL rules of a struct. The engine is not known here.
pub trait RuleEvaluator {
    /// Calls `report` for each rule that does not hold, or cannot be told.
    fn evaluate(&self, new: Ref<'_>, old: Option<Ref<'_>>, report: &mut dyn FnMut(&'static RuleDef, RuleFailure));
}

/// Why a rule is reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleFailure {
    /// The rule does not hold; its message.
    Broken(String),
    /// The rule cannot be told; the text says why.
    Failed(String),
}

/// What validation depends on besides the object.
#[derive(Clone, Copy)]
pub struct Validator<'a> {
    pub scope: Scope,
    pub half: Half,
    /// Who writes; its feature gates are those of `k8s:ifEnabled` and `k8s:ifDisabled`.
    pub context: &'a Context,
    /// Without it rules are not evaluated.
    pub rules: Option<&'a dyn RuleEvaluator>,
}

impl Validator<'_> {
    /// Appends what is wrong with `new`; `old` is what it was before an update.
    pub fn validate(&self, new: Ref<'_>, old: Option<Ref<'_>>, path: &Path<'_>, errors: &mut Vec<FieldError>) {
        if self.scope == Scope::Tagged {
            Validation::new(self.context, errors).checks(path, new, old);
        }
        Run { with: self, stored: old, update: old.is_some(), left_out: String::new(), errors }
            .structure(new, old, path);
    }
}

/// One validation.
struct Run<'r> {
    with: &'r Validator<'r>,
    /// The whole object before an update.
    stored: Option<Ref<'r>>,
    /// Whether it is an update; items without an old form are part of one, too.
    update: bool,
    /// The path of what the document was last found to leave out of a part that is as it was.
    left_out: String,
    errors: &'r mut Vec<FieldError>,
}

/// Whether a path leads to a place or to what is below it.
fn is_at_or_below(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

impl Run<'_> {
    /// Whether values of a feature are allowed: it is on, or the stored object uses it.
    fn has_gate(&self, gate: &str) -> bool {
        self.with.context.enabled(gate) || self.stored.is_some_and(|stored| uses_gate(stored, gate))
    }

    fn structure(&mut self, new: Ref<'_>, old: Option<Ref<'_>>, path: &Path<'_>) {
        if self.with.half != Half::Words {
            self.by_hand(new, old, path);
        }
        let plan = Plan::of(new.def(), self.with.scope);
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

    /// Upstream's kinds call what they need themselves, some with options; every kind of one's own
    /// gets it wherever it holds the type.
    fn by_hand(&mut self, new: Ref<'_>, old: Option<Ref<'_>>, path: &Path<'_>) {
        if let Some(by_hand) = new.def().validate.filter(|_| self.with.scope == Scope::Declared || path.is_root()) {
            by_hand(&mut Validation::new(self.with.context, self.errors), path, new, old);
        }
    }

    fn field(&mut self, field: &plan::FieldPlan, new: Value<'_>, old: Option<Value<'_>>, path: &Path<'_>) {
        let checks_words = self.with.half != Half::Functions;
        if self.update && old == Some(new) && !(checks_words && self.lacks(field, new, path)) {
            return;
        }
        let goes_on = !checks_words || self.checks(field, new, old, path);
        if field.below && goes_on {
            // A struct in place that holds nothing was not there.
            let is_declared = self.with.scope == Scope::Declared;
            let old = old.filter(|old| !is_declared || check::is_there(field.shape, *old, true));
            self.below(field.list, new, old, path);
        }
    }

    /// Whether the document leaves out what has to be at or below a field that is as it was: a zero value that is left
    /// out is the same to the struct.
    fn lacks(&mut self, field: &plan::FieldPlan, new: Value<'_>, path: &Path<'_>) -> bool {
        if self.with.scope != Scope::Declared {
            return false;
        }
        if self.is_left_out(field, &check::At { shape: field.shape, path, new, old: Some(new) }) {
            self.left_out = path.to_text();
            return true;
        }
        if !field.below || !check::is_there(field.shape, new, true) {
            return false;
        }
        // Asked again of each part on the way to what is left out: a walk for each would be a square of the depth.
        if self.is_left_out_below(path) {
            return true;
        }
        match new {
            Value::Struct(new) => self.struct_lacks(new, path),
            Value::StructList(new) => new.iter().enumerate().any(|(i, item)| self.struct_lacks(item, &path.index(i))),
            Value::StructMap(new) => {
                let mut lacks = false;
                new.for_each(|key, value| lacks = lacks || self.struct_lacks(value, &path.key(key)));
                lacks
            }
            _ => false,
        }
    }

    fn is_left_out_below(&self, path: &Path<'_>) -> bool {
        !self.left_out.is_empty() && is_at_or_below(&self.left_out, &path.to_text())
    }

    fn struct_lacks(&mut self, new: Ref<'_>, path: &Path<'_>) -> bool {
        Plan::of(new.def(), self.with.scope).fields.iter().any(|field| {
            let (def, value) = (&new.def().fields[field.index], new.get(field.index));
            match def.json.is_empty() {
                true => self.lacks(field, value, path),
                false => self.lacks(field, value, &path.child(def.json)),
            }
        })
    }

    /// Whether an item of a list or map is as it was.
    fn is_unchanged(&mut self, new: Ref<'_>, old: Option<Ref<'_>>, path: &Path<'_>) -> bool {
        let checks_words = self.with.scope == Scope::Declared && self.with.half != Half::Functions;
        let lacks = |run: &mut Self| run.is_left_out_below(path) || run.struct_lacks(new, path);
        old == Some(new) && !(checks_words && lacks(self))
    }

    /// Whether nothing ends the matter.
    fn checks(&mut self, field: &plan::FieldPlan, new: Value<'_>, old: Option<Value<'_>>, path: &Path<'_>) -> bool {
        let at = check::At { shape: field.shape, path, new, old };
        let before = self.errors.len();
        let is_declared = self.with.scope == Scope::Declared;
        let mut stop = false;
        for check in &field.first {
            stop |= self.check(check, &at) && check.rule.ends_the_matter(self.with.scope);
        }
        let is_unset = || field.implied_optional && !check::is_there(field.shape, new, is_declared);
        if stop || (is_unset() && (is_declared || self.errors.len() == before)) {
            return false;
        }
        for check in &field.rest {
            self.check(check, &at);
        }
        true
    }

    /// Whether the document that was sent has this field; nothing when there is none.
    fn was_sent(&self, path: &Path<'_>) -> Option<bool> {
        let (path, subresource) = (path.to_text(), self.with.context.subresource.as_str());
        // A write of a subresource leaves the rest of the object as it is, whatever the document has of it.
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

    /// Upstream's `Unique`: every item that is the same as one before it; of authors' kinds the
    /// second of them, as custom resources have it.
    fn unique(&mut self, keys: &[&str], new: Value<'_>, path: &Path<'_>) {
        let second_only = self.with.scope == Scope::Declared;
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
                        self.errors.push(FieldError::duplicate(&path.index(i), check::shown(item)));
                    }
                }
            }
            _ => {}
        }
        // A stored object that repeats items may go on repeating them, as custom resources may.
        if second_only && self.errors.len() > before && self.stored.is_some_and(repeats) {
            self.errors.truncate(before);
        }
    }
}

/// Whether a list of an object has an item, or the keys of one, twice.
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

/// The keys of an item, or all of it, in bytes.
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

/// The items of a stored list by their keys.
struct Known<'k, 'a> {
    keys: &'k [&'k str],
    items: HashMap<Vec<u8>, Ref<'a>>,
}

impl<'k, 'a> Known<'k, 'a> {
    fn new(items: StructList<'a>, keys: &'k [&'k str]) -> Self {
        let mut known = HashMap::new();
        for item in items.iter() {
            // Of items of the same keys, the first one counts.
            known.entry(identity(keys, item)).or_insert(item);
        }
        Known { keys, items: known }
    }

    fn find(&self, item: Ref<'_>) -> Option<Ref<'a>> {
        self.items.get(&identity(self.keys, item)).copied()
    }
}
