//! Atomic parts of a value, which an apply replaces as a whole.

use serde_json::Value;

use crate::schema::{ListKind, SchemaType};

/// Returns the paths of all atomic maps and lists in a value (upstream: `findAtomics` of mutating
/// admission policies).
pub fn atomics(of: SchemaType<'_>, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(of, value, &mut String::new(), &mut found);
    found
}

fn collect(of: SchemaType<'_>, value: &Value, path: &mut String, found: &mut Vec<String>) {
    let (atom, length) = (of.atom(), path.len());
    let is_atomic = match value {
        Value::Object(_) => atom.map.is_some_and(|map| map.atomic),
        Value::Array(_) => atom.list.is_some_and(|list| matches!(list.kind, ListKind::Atomic)),
        _ => false,
    };
    if is_atomic {
        found.push(path.clone());
    }
    let mut below = |step: &str, of: SchemaType<'_>, value: &Value| {
        path.push_str(step);
        collect(of, value, path, found);
        path.truncate(length);
    };
    match (value, atom.map, atom.list) {
        (Value::Object(members), Some(map), _) => {
            for (name, member) in members {
                if let Some(of) = map.field(name) {
                    below(&format!(".{name}"), of, member);
                }
            }
        }
        (Value::Array(items), _, Some(list)) => {
            for (index, item) in items.iter().enumerate() {
                below(&format!("[{index}]"), list.items, item);
            }
        }
        _ => {}
    }
}
