//! JSON patch (RFC 6902), compatible with upstream's library, evanphx/json-patch v4. Some differences
//! from the RFC are visible to clients: `replace` adds a missing member, and `copy` of a missing member
//! yields null. The text before the first slash of a path is ignored.

mod reached;

use machinery::json::{Issue, Issues, SelectedNames};
use machinery::status::Status;
use serde_json::{Map, Value};

use reached::{Reached, unescape};

use crate::work::{MAX_DEPTH, RemainingWork, TooMuchWork, count_within, size_within};
use crate::{Error, document};

/// Maximum number of operations of a patch (`handlers.maxJSONPatchOperations`).
pub const MAX_OPERATIONS: usize = 10_000;

/// Maximum size of all values that `copy` operations of one patch copy, in bytes of JSON
/// (`JSONPatchMaxCopyBytes`).
const MAX_COPIED_BYTES: usize = 3 * 1024 * 1024;

/// Cost of the update of one recorded list position, in values moved.
const SHIFT: usize = 20;

/// Maximum number of path elements that [`names_of_operations`] distinguishes.
const MAX_NAMED_STEPS: usize = 32;

/// The known members of an operation; strict decoding reports others.
const MEMBERS: [&str; 4] = ["op", "from", "path", "value"];

/// Why an operation is refused.
enum Refusal {
    /// The operation does not apply, for this reason. Clients get only a generic message.
    Inapplicable(String),
    /// A `test` operation found another value.
    Untrue,
    TooMuchWork,
}

use Refusal::{Inapplicable, Untrue};

impl From<TooMuchWork> for Refusal {
    fn from(TooMuchWork: TooMuchWork) -> Self {
        Refusal::TooMuchWork
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Inapplicable(_) | Untrue => document::inapplicable(),
            Refusal::TooMuchWork => too_large(&Error::TooMuchWork.to_string()),
        }
    }
}

/// Why the value at a path cannot be accessed.
enum Fault {
    /// A container on the path is missing.
    NoContainer,
    /// The container refuses the last element of the path.
    Step(String),
    Other(Refusal),
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Fault::Other(refusal)
    }
}

impl From<TooMuchWork> for Fault {
    fn from(too_much: TooMuchWork) -> Self {
        Fault::Other(too_much.into())
    }
}

impl Fault {
    /// Builds the refusal of an operation: with the message `missing` for a missing container, or
    /// `refused` for a refused element.
    fn into_refusal(self, missing: &str, refused: &str) -> Refusal {
        match self {
            Fault::NoContainer => Inapplicable(format!("{missing}: {MISSING}")),
            Fault::Step(why) => Inapplicable(format!("{refused}: {why}")),
            Fault::Other(refusal) => refusal,
        }
    }
}

const MISSING: &str = "missing value";

fn too_large(why: &str) -> Status {
    Status::new(413, "RequestEntityTooLarge", format!("Request entity too large: {why}"))
}

/// Applies a JSON patch; `issues` gets unknown and duplicate fields of its operations.
///
/// The members of objects on the paths of the patch are sorted, as upstream writes them, because
/// messages may contain the document.
///
/// # Errors
///
/// 400 when the patch is malformed; 413 when it has too many operations or moves too many values. 422
/// when an operation does not apply, copies too much, or exceeds the depth limit.
pub fn json_patch(document: &Value, patch: &[u8], issues: &mut Issues) -> Result<Value, Status> {
    let operations = decode(patch, issues)?;
    if operations.len() > MAX_OPERATIONS {
        let count = operations.len();
        let why = format!("The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {count}");
        return Err(too_large(&why));
    }
    Ok(apply(document, &operations)?)
}

/// Applies operations that a client did not send; returns the document unchanged when a `test` operation fails.
///
/// # Errors
/// When an operation does not apply, with upstream's text, or when the operations move too many values.
pub fn json_patch_of(document: &Value, operations: &[Map<String, Value>]) -> Result<Value, Error> {
    match apply(document, operations) {
        Err(Inapplicable(why)) => Err(Error::Inapplicable(why)),
        Err(Untrue) => Ok(document.clone()),
        Err(Refusal::TooMuchWork) => Err(Error::TooMuchWork),
        Ok(patched) => Ok(patched),
    }
}

fn apply(document: &Value, operations: &[Map<String, Value>]) -> Result<Value, Refusal> {
    let document = document.clone();
    let mut patching = Patching { document, copied: 0, work: RemainingWork::default(), reached: Reached::default() };
    for operation in operations {
        patching.apply(operation)?;
    }
    let mut patched = patching.document;
    patching.reached.sort(&mut patched);
    Ok(patched)
}

/// Returns the parts of a document that operations may read or change, as nested member names; `None`
/// if they may access all of it.
pub fn names_of_operations(operations: &[Value]) -> Option<SelectedNames> {
    let mut names = SelectedNames::new();
    for operation in operations {
        for pointer in ["path", "from"].iter().filter_map(|member| operation.get(member)?.as_str()) {
            // A container's name includes its contents, so the last elements of long paths can be omitted.
            let steps: Vec<String> = pointer.split('/').skip(1).take(MAX_NAMED_STEPS).map(unescape).collect();
            name(&mut names, &steps)?;
        }
    }
    Some(names)
}

/// Adds a path to the names; `None` if it is empty.
fn name(names: &mut SelectedNames, steps: &[String]) -> Option<()> {
    let (first, below) = steps.split_first()?;
    match names.get_mut(first) {
        _ if below.is_empty() => drop(names.insert(first.clone(), Value::Null)),
        Some(Value::Object(named)) => name(named, below)?,
        // The whole member is already included.
        Some(_) => {}
        None => {
            let mut named = SelectedNames::new();
            name(&mut named, below)?;
            names.insert(first.clone(), Value::Object(named));
        }
    }
    Some(())
}

fn decode(patch: &[u8], issues: &mut Issues) -> Result<Vec<Map<String, Value>>, Status> {
    let failed = |why: String| {
        // An invalid number can occur only in `value`, where the only known type is that of numbers.
        let why = why.replace("Go value of type float64", "Go struct field jsonPatchOp.value of type float64");
        Status::bad_request(format!("error decoding patch: {why}"))
    };
    let mut duplicates = if issues.is_collecting() { Issues::collect() } else { Issues::ignore() };
    let list = document::read(patch, &mut duplicates, "[]handlers.jsonPatchOp", Value::is_array, failed)?;
    let Value::Array(list) = list else { return Ok(Vec::new()) };
    let mut operations = Vec::with_capacity(list.len());
    for item in list {
        match item {
            Value::Object(operation) => operations.push(operation),
            Value::Null => operations.push(Map::new()),
            other => {
                let found = document::json_type(&other);
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

/// A document under patch, with the cost so far.
struct Patching {
    document: Value,
    /// Bytes of JSON copied so far.
    copied: usize,
    work: RemainingWork,
    /// The containers that operations have accessed so far.
    reached: Reached,
}

impl Patching {
    fn apply(&mut self, operation: &Map<String, Value>) -> Result<(), Refusal> {
        let text = |member: &str| {
            let why = || Inapplicable(format!("operation missing {member} field: {MISSING}"));
            operation.get(member).and_then(Value::as_str).ok_or_else(why)
        };
        let value = operation.get("value").unwrap_or(&Value::Null);
        let (path, op) = (text("path")?, text("op")?);
        // A move removes the value before it accesses the target.
        if op != "move" {
            self.mark(path);
        }
        match op {
            "add" => self.add(path, value.clone()).map_err(|fault| {
                let missing = format!("add operation does not apply: doc is missing path: \"{path}\"");
                fault.into_refusal(&missing, &format!("error in add for path: '{path}'"))
            }),
            "remove" => self.take(path).map(drop).map_err(|fault| {
                let missing = format!("remove operation does not apply: doc is missing path: \"{path}\"");
                fault.into_refusal(&missing, &format!("error in remove for path: '{path}'"))
            }),
            "replace" if path.is_empty() => self.replace_document(value),
            "replace" => self.replace(path, value),
            "move" => self.relocate(text("from")?, path),
            "test" => self.test(path, value),
            "copy" => self.copy(text("from")?, path),
            other => Err(Inapplicable(format!("Unexpected kind: {other}"))),
        }
    }

    fn relocate(&mut self, from: &str, path: &str) -> Result<(), Refusal> {
        self.mark(from);
        let reached = self.reached.take(&self.place(from));
        let moved = self.take(from).map_err(|fault| {
            let last = unescape(from.rsplit('/').next().unwrap_or_default());
            let missing = format!("move operation does not apply: doc is missing from path: {from}");
            fault.into_refusal(&missing, &format!("error in move for path: '{last}'"))
        })?;
        self.mark(path);
        self.add(path, moved).map_err(|fault| {
            let missing = format!("move operation does not apply: doc is missing destination path: {path}");
            fault.into_refusal(&missing, &format!("error in move for path: '{path}'"))
        })?;
        if let Some(reached) = reached {
            let end = match find(&mut self.document, path) {
                Some((Value::Array(items), key)) if key == "-" => items.len().checked_sub(1),
                _ => None,
            };
            self.reached.put(&self.place(path), end, reached);
        }
        Ok(())
    }

    /// Records that an operation accesses the containers on a path.
    fn mark(&mut self, path: &str) {
        self.reached.mark(&self.document, &self.place(path));
    }

    /// Returns a path with list positions counted from the beginning.
    fn place(&self, path: &str) -> String {
        let mut at = Some(&self.document);
        let mut place = String::with_capacity(path.len());
        for step in path.split('/').skip(1) {
            place.push('/');
            at = match at {
                Some(Value::Array(items)) => {
                    let index = index(step, items.len()).ok();
                    place.push_str(&index.map_or_else(|| step.to_owned(), |index| index.to_string()));
                    index.map(|index| &items[index])
                }
                found => {
                    place.push_str(step);
                    found.and_then(|found| found.get(unescape(step)))
                }
            };
        }
        place
    }

    fn test(&mut self, path: &str, value: &Value) -> Result<(), Refusal> {
        if path.is_empty() {
            return (self.document == *value).then_some(()).ok_or(Untrue);
        }
        let found = self.get(path).map_err(|fault| {
            let missing = format!("test operation does not apply: is missing path: {path}");
            fault.into_refusal(&missing, &format!("error in test for path: '{path}'"))
        })?;
        if found != value {
            return Err(Untrue);
        }
        // Upstream decodes both values into maps to compare them.
        self.reached.mark_whole(&self.place(path), value);
        Ok(())
    }

    /// Returns the value at a path; null for a missing member.
    fn get(&mut self, path: &str) -> Result<&Value, Fault> {
        const NULL: &Value = &Value::Null;
        match find(&mut self.document, path).ok_or(Fault::NoContainer)? {
            (Value::Object(map), key) => Ok(map.get(&key).unwrap_or(NULL)),
            (Value::Array(items), key) => {
                let index = index(&key, items.len()).map_err(step)?;
                Ok(&items[index])
            }
            _ => Err(Fault::NoContainer),
        }
    }

    /// Copies a value, after its size has been checked (`AccumulatedCopySizeLimit`).
    fn copy(&mut self, from: &str, path: &str) -> Result<(), Refusal> {
        let left = MAX_COPIED_BYTES - self.copied;
        let source = self.get(from).map_err(|fault| {
            let missing = format!("copy operation does not apply: doc is missing from path: {from}");
            fault.into_refusal(&missing, &format!("error in copy for from: '{from}'"))
        })?;
        let too_much = || Inapplicable(format!("Unable to complete the copy, exceeding the limit {MAX_COPIED_BYTES}"));
        let size = size_within(source, left).ok_or_else(too_much)?;
        let mut copy = source.clone();
        self.reached.sort_part(&self.place(from), &mut copy);
        self.mark(from);
        self.copied += size;
        self.add(path, copy).map_err(|fault| {
            let missing = format!("copy operation does not apply: doc is missing destination path: {path}");
            fault.into_refusal(&missing, "error while adding value during copy")
        })
    }

    fn add(&mut self, path: &str, value: Value) -> Result<(), Fault> {
        self.check_depth(path, &value)?;
        let place = self.place(path);
        match find(&mut self.document, path).ok_or(Fault::NoContainer)? {
            (Value::Object(map), key) => {
                map.insert(key, value);
                self.reached.take(&place);
            }
            (Value::Array(items), key) if key == "-" => items.push(value),
            (Value::Array(items), key) => {
                let index = index(&key, items.len() + 1).map_err(|why| match why {
                    Error::NotAnIndex(_) => Fault::Step(format!("value was not a proper array index: '{key}': {why}")),
                    other => step(other),
                })?;
                self.work.spend(items.len() - index)?;
                items.insert(index, value);
                self.work.spend(SHIFT * self.reached.shift(&place, index, true))?;
            }
            _ => return Err(Fault::NoContainer),
        }
        Ok(())
    }

    fn take(&mut self, path: &str) -> Result<Value, Fault> {
        let place = self.place(path);
        match find(&mut self.document, path).ok_or(Fault::NoContainer)? {
            // The order of the members is irrelevant: accessed objects are sorted afterwards.
            (Value::Object(map), key) => {
                self.reached.take(&place);
                let missing = || Fault::Step(format!("Unable to remove nonexistent key: {key}: {MISSING}"));
                map.swap_remove(&key).ok_or_else(missing)
            }
            (Value::Array(items), key) => {
                let index = index(&key, items.len()).map_err(step)?;
                self.work.spend(items.len() - index)?;
                self.work.spend(SHIFT * self.reached.shift(&place, index, false))?;
                Ok(items.remove(index))
            }
            _ => Err(Fault::NoContainer),
        }
    }

    fn replace(&mut self, path: &str, value: &Value) -> Result<(), Refusal> {
        let missing = |what: &str| {
            Inapplicable(format!("replace operation does not apply: doc is missing {what}: {path}: {MISSING}"))
        };
        self.check_depth(path, value)?;
        let place = self.place(path);
        match find(&mut self.document, path).ok_or_else(|| missing("path"))? {
            (Value::Object(map), key) => {
                map.insert(key, value.clone());
            }
            (Value::Array(items), key) => {
                let index = index(&key, items.len()).map_err(|_| missing("key"))?;
                items[index] = value.clone();
            }
            _ => return Err(missing("path")),
        }
        self.reached.take(&place);
        Ok(())
    }

    fn replace_document(&mut self, value: &Value) -> Result<(), Refusal> {
        if !value.is_object() && !value.is_array() {
            return Err(Inapplicable("replace operation value must be object or array".into()));
        }
        self.check_depth("", value)?;
        self.document = value.clone();
        self.reached = Reached::default();
        Ok(())
    }

    /// Refuses a value that would exceed the depth limit at its path.
    fn check_depth(&mut self, path: &str, value: &Value) -> Result<(), Refusal> {
        let above = path.matches('/').count();
        let count = MAX_DEPTH.checked_sub(above).and_then(|depth| count_within(value, depth));
        let count = count.ok_or_else(|| Inapplicable("the document would nest too deep".into()))?;
        self.work.spend(count)?;
        Ok(())
    }
}

/// Returns the container at a path, and the last element. The text before the first slash is ignored.
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

fn step(why: Error) -> Fault {
    Fault::Step(why.to_string())
}

/// Parses a position in a list of this length; negative ones count from its end.
fn index(step: &str, length: usize) -> Result<usize, Error> {
    let number: i64 = step.parse().map_err(|_| Error::NotAnIndex(step.to_owned()))?;
    let index = if number < 0 { number.saturating_add(length as i64) } else { number };
    let index = usize::try_from(index).ok().filter(|&index| index < length);
    index.ok_or(Error::IndexOutOfRange(number))
}

#[cfg(test)]
mod tests;
