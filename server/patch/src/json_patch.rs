//! JSON patch (RFC 6902) with the habits of upstream's library, evanphx/json-patch v4, which clients can see: `replace` adds what is not
//! there, `copy` of nothing yields null, the first step of a path may be anything.

use std::collections::BTreeSet;

use machinery::json::{Issue, Issues, Names};
use machinery::status::Status;
use serde_json::{Map, Value};

use crate::document;

/// No patch may have more operations (`handlers.maxJSONPatchOperations`).
pub const MAX_OPERATIONS: usize = 10_000;

/// What `copy` operations of one patch may copy in all, in bytes of JSON (`JSONPatchMaxCopyBytes`).
const MAX_COPIED_BYTES: usize = 3 * 1024 * 1024;

/// The members that an operation may have; strict decoding objects to others.
const MEMBERS: [&str; 4] = ["op", "from", "path", "value"];

/// Why an operation does not apply. Clients are told no more than that one did not.
struct Inapplicable;

/// Applies a JSON patch; `issues` gets unknown and duplicate fields of its operations.
///
/// Objects that the patch reached come out in order of their keys, as upstream writes them: messages may show the document.
pub fn json_patch(document: &Value, patch: &[u8], issues: &mut Issues) -> Result<Value, Status> {
    let operations = decode(patch, issues)?;
    if operations.len() > MAX_OPERATIONS {
        let count = operations.len();
        let why = format!("The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {count}");
        return Err(Status::new(413, "RequestEntityTooLarge", format!("Request entity too large: {why}")));
    }
    let mut patched = document.clone();
    let mut copied = 0;
    for operation in &operations {
        apply(&mut patched, operation, &mut copied).map_err(|Inapplicable| document::inapplicable())?;
    }
    sort_reached(&mut patched, &operations);
    Ok(patched)
}

/// What of a document operations may read or change, a member of a member under the name of each; nothing if that may be all of it.
pub fn names_of_operations(operations: &[Value]) -> Option<Names> {
    let mut names = Names::new();
    for operation in operations {
        for pointer in ["path", "from"].iter().filter_map(|member| operation.get(member)?.as_str()) {
            let steps: Vec<String> = pointer.split('/').skip(1).map(unescape).collect();
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
    let list = document::read(patch, &mut duplicates, "[]handlers.jsonPatchOp", Value::is_array).map_err(failed)?;
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

fn apply(document: &mut Value, operation: &Map<String, Value>, copied: &mut usize) -> Result<(), Inapplicable> {
    let text = |member: &str| operation.get(member).and_then(Value::as_str).ok_or(Inapplicable);
    let value = || operation.get("value").cloned().unwrap_or(Value::Null);
    let path = text("path")?;
    match text("op")? {
        "add" => add(document, path, value()),
        "remove" => take(document, path).map(drop),
        "replace" if path.is_empty() => replace_document(document, value()),
        "replace" => replace(document, path, value()),
        "move" => {
            let moved = take(document, text("from")?)?;
            add(document, path, moved)
        }
        "test" if path.is_empty() => (*document == value()).then_some(()).ok_or(Inapplicable),
        "test" => {
            let (container, key) = find(document, path).ok_or(Inapplicable)?;
            (get(container, &key)? == value()).then_some(()).ok_or(Inapplicable)
        }
        "copy" => {
            let (container, key) = find(document, text("from")?).ok_or(Inapplicable)?;
            let copy = get(container, &key)?;
            *copied += copy.to_string().len();
            if *copied > MAX_COPIED_BYTES {
                return Err(Inapplicable);
            }
            add(document, path, copy)
        }
        _ => Err(Inapplicable),
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
fn index(step: &str, length: usize) -> Result<usize, Inapplicable> {
    let number: i64 = step.parse().map_err(|_| Inapplicable)?;
    let index = if number < 0 { number + length as i64 } else { number };
    usize::try_from(index).ok().filter(|&index| index < length).ok_or(Inapplicable)
}

fn get(container: &Value, key: &str) -> Result<Value, Inapplicable> {
    match container {
        Value::Object(map) => Ok(map.get(key).cloned().unwrap_or(Value::Null)),
        Value::Array(items) => Ok(items[index(key, items.len())?].clone()),
        _ => Err(Inapplicable),
    }
}

fn add(document: &mut Value, path: &str, value: Value) -> Result<(), Inapplicable> {
    match find(document, path).ok_or(Inapplicable)? {
        (Value::Object(map), key) => {
            map.insert(key, value);
        }
        (Value::Array(items), key) if key == "-" => items.push(value),
        (Value::Array(items), key) => {
            let index = index(&key, items.len() + 1)?;
            items.insert(index, value);
        }
        _ => return Err(Inapplicable),
    }
    Ok(())
}

fn take(document: &mut Value, path: &str) -> Result<Value, Inapplicable> {
    match find(document, path).ok_or(Inapplicable)? {
        (Value::Object(map), key) => map.shift_remove(&key).ok_or(Inapplicable),
        (Value::Array(items), key) => {
            let index = index(&key, items.len())?;
            Ok(items.remove(index))
        }
        _ => Err(Inapplicable),
    }
}

fn replace(document: &mut Value, path: &str, value: Value) -> Result<(), Inapplicable> {
    match find(document, path).ok_or(Inapplicable)? {
        (Value::Object(map), key) => {
            map.insert(key, value);
        }
        (Value::Array(items), key) => {
            let index = index(&key, items.len())?;
            items[index] = value;
        }
        _ => return Err(Inapplicable),
    }
    Ok(())
}

fn replace_document(document: &mut Value, value: Value) -> Result<(), Inapplicable> {
    if !value.is_object() && !value.is_array() {
        return Err(Inapplicable);
    }
    *document = value;
    Ok(())
}

/// Sorts the objects that some operation went through.
fn sort_reached(document: &mut Value, operations: &[Map<String, Value>]) {
    let mut reached = BTreeSet::from([""]);
    let paths = operations.iter().flat_map(|operation| [operation.get("path"), operation.get("from")]);
    for path in paths.flatten().filter_map(Value::as_str) {
        reached.extend(path.match_indices('/').map(|(at, _)| &path[..at]));
    }
    for path in reached {
        if let Some(map) = document.pointer_mut(path).and_then(Value::as_object_mut) {
            map.sort_keys();
        }
    }
}
