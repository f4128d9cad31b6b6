//! JSON patch (RFC 6902) with the habits of upstream's library, evanphx/json-patch v4, which clients can see: `replace` adds what is not
//! there, `copy` of nothing yields null, the first step of a path may be anything.

use std::collections::BTreeMap;

use machinery::json::{Issue, Issues, Names};
use machinery::status::Status;
use serde_json::{Map, Value};

use crate::document;
use crate::work::{MAX_DEPTH, TooMuchWork, Work, count_within, size_within};

/// No patch may have more operations (`handlers.maxJSONPatchOperations`).
pub const MAX_OPERATIONS: usize = 10_000;

/// What `copy` operations of one patch may copy in all, in bytes of JSON (`JSONPatchMaxCopyBytes`).
const MAX_COPIED_BYTES: usize = 3 * 1024 * 1024;

/// How many steps of a path [`names_of_operations`] tells apart.
const MAX_NAMED_STEPS: usize = 32;

/// The members that an operation may have; strict decoding objects to others.
const MEMBERS: [&str; 4] = ["op", "from", "path", "value"];

/// Why an operation is refused.
enum Refusal {
    /// It does not apply. Clients are told no more than that one did not.
    Inapplicable,
    TooMuchWork,
}

use Refusal::Inapplicable;

impl From<TooMuchWork> for Refusal {
    fn from(TooMuchWork: TooMuchWork) -> Self {
        Refusal::TooMuchWork
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Inapplicable => document::inapplicable(),
            Refusal::TooMuchWork => too_large("The operations of the JSON patch move too many values"),
        }
    }
}

fn too_large(why: &str) -> Status {
    Status::new(413, "RequestEntityTooLarge", format!("Request entity too large: {why}"))
}

/// Applies a JSON patch; `issues` gets unknown and duplicate fields of its operations.
///
/// Objects that the patch reached come out in order of their keys, as upstream writes them: messages may show the document.
///
/// # Errors
///
/// 400 when the patch is not one; 413 when it has too many operations, or when they move too many values; 422 when an operation does not
/// apply, copies too much, or nests the document too deep.
pub fn json_patch(document: &Value, patch: &[u8], issues: &mut Issues) -> Result<Value, Status> {
    let operations = decode(patch, issues)?;
    if operations.len() > MAX_OPERATIONS {
        let count = operations.len();
        let why = format!("The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {count}");
        return Err(too_large(&why));
    }
    let mut patching = Patching { document: document.clone(), copied: 0, work: Work::default() };
    for operation in &operations {
        patching.apply(operation)?;
    }
    let mut patched = patching.document;
    sort_reached(&mut patched, &operations);
    Ok(patched)
}

/// What of a document operations may read or change, a member of a member under the name of each; nothing if that may be all of it.
pub fn names_of_operations(operations: &[Value]) -> Option<Names> {
    let mut names = Names::new();
    for operation in operations {
        for pointer in ["path", "from"].iter().filter_map(|member| operation.get(member)?.as_str()) {
            // The name of a container stands for all that is in it, so that the last steps of long paths can be left out.
            let steps: Vec<String> = pointer.split('/').skip(1).take(MAX_NAMED_STEPS).map(unescape).collect();
            name(&mut names, &steps)?;
        }
    }
    Some(names)
}

/// Nothing if there are no steps.
fn name(names: &mut Names, steps: &[String]) -> Option<()> {
    let (first, below) = steps.split_first()?;
    match names.get_mut(first) {
        _ if below.is_empty() => drop(names.insert(first.clone(), Value::Null)),
        Some(Value::Object(named)) => name(named, below)?,
        // All of it is named already.
        Some(_) => {}
        None => {
            let mut named = Names::new();
            name(&mut named, below)?;
            names.insert(first.clone(), Value::Object(named));
        }
    }
    Some(())
}

fn decode(patch: &[u8], issues: &mut Issues) -> Result<Vec<Map<String, Value>>, Status> {
    let failed = |why: String| Status::bad_request(format!("error decoding patch: {why}"));
    let mut duplicates = if issues.is_collecting() { Issues::collect() } else { Issues::ignore() };
    let list = document::read(patch, &mut duplicates, "[]handlers.jsonPatchOp", Value::is_array, failed)?;
    let Value::Array(list) = list else { return Ok(Vec::new()) };
    let mut operations = Vec::with_capacity(list.len());
    for item in list {
        match item {
            Value::Object(operation) => operations.push(operation),
            Value::Null => operations.push(Map::new()),
            other => {
                let found = document::found(&other);
                return Err(failed(format!(
                    "json: cannot unmarshal {found} into Go value of type handlers.jsonPatchOp"
                )));
            }
        }
    }
    report(&operations, &duplicates, issues);
    Ok(operations)
}

fn report(operations: &[Map<String, Value>], duplicates: &Issues, issues: &mut Issues) {
    let mut add = |issue: &Issue| issues.add(Issue::Text(format!("json patch {issue}").into()));
    duplicates.iter().for_each(&mut add);
    for (index, operation) in operations.iter().enumerate() {
        for member in operation.keys().filter(|member| !MEMBERS.contains(&member.as_str())) {
            add(&Issue::Unknown(format!("[{index}].{member}").into()));
        }
    }
}

/// A document while operations are applied to it, and what they have cost.
struct Patching {
    document: Value,
    /// Bytes of JSON that were copied.
    copied: usize,
    work: Work,
}

impl Patching {
    fn apply(&mut self, operation: &Map<String, Value>) -> Result<(), Refusal> {
        let text = |member: &str| operation.get(member).and_then(Value::as_str).ok_or(Inapplicable);
        let value = operation.get("value").unwrap_or(&Value::Null);
        let path = text("path")?;
        match text("op")? {
            "add" => self.add(path, value.clone()),
            "remove" => self.take(path).map(drop),
            "replace" if path.is_empty() => self.replace_document(value),
            "replace" => self.replace(path, value),
            "move" => {
                let moved = self.take(text("from")?)?;
                self.add(path, moved)
            }
            "test" if path.is_empty() => (self.document == *value).then_some(()).ok_or(Inapplicable),
            "test" => (*self.get(path)? == *value).then_some(()).ok_or(Inapplicable),
            "copy" => self.copy(text("from")?, path),
            _ => Err(Inapplicable),
        }
    }

    /// What a path names; null if it is a member that is not there.
    fn get(&mut self, path: &str) -> Result<&Value, Refusal> {
        const NULL: &Value = &Value::Null;
        match find(&mut self.document, path).ok_or(Inapplicable)? {
            (Value::Object(map), key) => Ok(map.get(&key).unwrap_or(NULL)),
            (Value::Array(items), key) => {
                let index = index(&key, items.len())?;
                Ok(&items[index])
            }
            _ => Err(Inapplicable),
        }
    }

    /// The size is known before anything is copied (`AccumulatedCopySizeLimit`).
    fn copy(&mut self, from: &str, path: &str) -> Result<(), Refusal> {
        let left = MAX_COPIED_BYTES - self.copied;
        let source = self.get(from)?;
        let size = size_within(source, left).ok_or(Inapplicable)?;
        let copy = source.clone();
        self.copied += size;
        self.add(path, copy)
    }

    fn add(&mut self, path: &str, value: Value) -> Result<(), Refusal> {
        self.check_depth(path, &value)?;
        match find(&mut self.document, path).ok_or(Inapplicable)? {
            (Value::Object(map), key) => {
                map.insert(key, value);
            }
            (Value::Array(items), key) if key == "-" => items.push(value),
            (Value::Array(items), key) => {
                let index = index(&key, items.len() + 1)?;
                self.work.spend(items.len() - index)?;
                items.insert(index, value);
            }
            _ => return Err(Inapplicable),
        }
        Ok(())
    }

    fn take(&mut self, path: &str) -> Result<Value, Refusal> {
        match find(&mut self.document, path).ok_or(Inapplicable)? {
            // The order of the members does not matter: objects that were reached are sorted afterwards.
            (Value::Object(map), key) => map.swap_remove(&key).ok_or(Inapplicable),
            (Value::Array(items), key) => {
                let index = index(&key, items.len())?;
                self.work.spend(items.len() - index)?;
                Ok(items.remove(index))
            }
            _ => Err(Inapplicable),
        }
    }

    fn replace(&mut self, path: &str, value: &Value) -> Result<(), Refusal> {
        self.check_depth(path, value)?;
        match find(&mut self.document, path).ok_or(Inapplicable)? {
            (Value::Object(map), key) => {
                map.insert(key, value.clone());
            }
            (Value::Array(items), key) => {
                let index = index(&key, items.len())?;
                items[index] = value.clone();
            }
            _ => return Err(Inapplicable),
        }
        Ok(())
    }

    fn replace_document(&mut self, value: &Value) -> Result<(), Refusal> {
        if !value.is_object() && !value.is_array() {
            return Err(Inapplicable);
        }
        self.check_depth("", value)?;
        self.document = value.clone();
        Ok(())
    }

    /// Refuses a value that would nest the document too deep where the path puts it.
    fn check_depth(&mut self, path: &str, value: &Value) -> Result<(), Refusal> {
        let above = path.matches('/').count();
        let count = MAX_DEPTH.checked_sub(above).and_then(|depth| count_within(value, depth)).ok_or(Inapplicable)?;
        self.work.spend(count)?;
        Ok(())
    }
}

/// The container that holds what the path names, and the last step. The text before the first slash is not looked at.
fn find<'d>(document: &'d mut Value, path: &str) -> Option<(&'d mut Value, String)> {
    let mut steps: Vec<&str> = path.split('/').skip(1).collect();
    let last = steps.pop()?;
    let mut at = document;
    for step in steps {
        let step = unescape(step);
        at = match at {
            Value::Object(map) => map.get_mut(&step)?,
            Value::Array(items) => {
                let index = index(&step, items.len()).ok()?;
                items.get_mut(index)?
            }
            _ => return None,
        };
    }
    (at.is_object() || at.is_array()).then(|| (at, unescape(last)))
}

fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// A position in a list of this length; negative ones count from its end.
fn index(step: &str, length: usize) -> Result<usize, Refusal> {
    let number: i64 = step.parse().map_err(|_| Inapplicable)?;
    let index = if number < 0 { number.saturating_add(length as i64) } else { number };
    usize::try_from(index).ok().filter(|&index| index < length).ok_or(Inapplicable)
}

/// Sorts the objects that some operation went through.
fn sort_reached(document: &mut Value, operations: &[Map<String, Value>]) {
    let mut reached = Reached::default();
    let paths = operations.iter().flat_map(|operation| [operation.get("path"), operation.get("from")]);
    for path in paths.flatten().filter_map(Value::as_str) {
        reached.mark(document, path);
    }
    reached.sort(document);
}

/// The containers of a document that paths go through, by the steps that lead to them. There are no more of them than in the document.
#[derive(Default)]
struct Reached {
    below: BTreeMap<String, Reached>,
}

impl Reached {
    fn mark(&mut self, document: &Value, path: &str) {
        let Some((containers, _)) = path.rsplit_once('/') else { return };
        let (mut place, mut at) = (self, document);
        for step in containers.split('/').skip(1) {
            let step = unescape(step);
            let next = match at {
                Value::Object(map) => map.get(&step),
                Value::Array(items) => step.parse().ok().and_then(|index: usize| items.get(index)),
                _ => None,
            };
            let Some(next) = next.filter(|next| next.is_object() || next.is_array()) else { return };
            place = place.below.entry(step).or_default();
            at = next;
        }
    }

    fn sort(&self, value: &mut Value) {
        for (step, reached) in &self.below {
            let below = match value {
                Value::Object(map) => map.get_mut(step),
                Value::Array(items) => step.parse().ok().and_then(|index: usize| items.get_mut(index)),
                _ => None,
            };
            below.into_iter().for_each(|below| reached.sort(below));
        }
        if let Value::Object(map) = value {
            map.sort_keys();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use serde_json::json;

    use super::*;

    fn patch(document: &Value, operations: &Value) -> Result<Value, u16> {
        json_patch(document, operations.to_string().as_bytes(), &mut Issues::ignore()).map_err(|status| status.code)
    }

    #[test]
    fn copies_into_itself_end_at_the_depth_limit() {
        // Each copy goes to the deepest place, so that the depth doubles.
        let copy = |exponent: usize| json!({"op": "copy", "from": "/a", "path": "/a".repeat((1usize << exponent) + 1)});
        let copies = |count| json!((0..count).map(copy).collect::<Vec<Value>>());
        assert!(patch(&json!({"a": {}}), &copies(7)).is_ok());
        assert_eq!(patch(&json!({"a": {}}), &copies(14)), Err(422));
    }

    #[test]
    fn moves_do_not_exceed_the_depth_limit() {
        let mut operations = Vec::new();
        for _ in 0..MAX_DEPTH {
            operations.push(json!({"op": "add", "path": "/b", "value": {}}));
            operations.push(json!({"op": "move", "from": "/a", "path": "/b/a"}));
            operations.push(json!({"op": "move", "from": "/b", "path": "/a"}));
        }
        assert_eq!(patch(&json!({"a": {}}), &json!(operations)), Err(422));
    }

    #[test]
    fn inserts_into_a_long_array_are_refused_once_they_cost_too_much() {
        let document = json!({"a": vec![0; 20_000]});
        let insert = json!({"op": "add", "path": "/a/0", "value": 1});
        assert_eq!(patch(&document, &json!(vec![insert.clone(); 10_000])), Err(413));
        assert!(patch(&document, &json!(vec![insert; 1_000])).is_ok());
    }

    #[test]
    fn long_paths_that_are_not_used_cost_nothing() {
        let mut path = String::new();
        for _ in 0..500_000 {
            write!(path, "/a").unwrap();
        }
        let operations = json!([{"op": "add", "path": "/x", "value": 1, "from": path}]);
        assert_eq!(patch(&json!({}), &operations), Ok(json!({"x": 1})));
        assert!(names_of_operations(operations.as_array().unwrap()).is_some());
    }
}
