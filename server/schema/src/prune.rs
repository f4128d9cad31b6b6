//! Prunes fields that a schema does not specify (`schema/pruning`).

use serde_json::{Map, Value};

use crate::{Additional, Schema};

/// Drops the fields that the schema does not specify.
///
/// `apiVersion`, `kind` and `metadata` at the root of an object always stay. With `unknown`, the
/// paths of the dropped fields are appended to it, sorted.
pub fn prune(value: &mut Value, schema: &Schema, is_root: bool, mut unknown: Option<&mut Vec<String>>) {
    let mut pruner = Pruner { unknown: unknown.as_deref_mut().map(|_| Vec::new()), recorded: 0, path: String::new() };
    pruner.value(value, Some(schema), is_root);
    if let (Some(unknown), Some(mut found)) = (unknown, pruner.unknown) {
        found.sort_unstable();
        unknown.append(&mut found);
    }
}

/// Whether an embedded object keeps a field regardless of its schema.
pub(crate) fn is_meta(name: &str) -> bool {
    matches!(name, "apiVersion" | "kind" | "metadata")
}

struct Pruner {
    unknown: Option<Vec<String>>,
    /// Total bytes of the paths in `unknown`.
    recorded: usize,
    path: String,
}

/// Limit in bytes on the recorded paths: each may be as long as the document.
const MAX_RECORDED: usize = 1 << 20;

impl Pruner {
    fn value(&mut self, value: &mut Value, schema: Option<&Schema>, is_object: bool) {
        match value {
            Value::Object(members) => match schema {
                None => self.drop_all(members),
                Some(schema) => self.members(members, schema, is_object || schema.flags.embedded_resource),
            },
            Value::Array(items) => {
                let keeps = schema.is_some_and(|schema| schema.flags.preserve_unknown_fields);
                let of = schema.and_then(|schema| schema.items.as_deref());
                for (index, item) in items.iter_mut().enumerate() {
                    let length = self.enter_index(index);
                    match (keeps, of) {
                        (true, None) => {}
                        (true, Some(of)) => self.preserved(item, of),
                        (false, of) => self.value(item, of, false),
                    }
                    self.path.truncate(length);
                }
            }
            _ => {}
        }
    }

    fn members(&mut self, members: &mut Map<String, Value>, schema: &Schema, is_object: bool) {
        let keeps = schema.flags.preserve_unknown_fields;
        members.retain(|name, value| {
            if is_object && is_meta(name) {
                return true;
            }
            let known = match (schema.property(name), &schema.additional) {
                (Some(property), _) => Some(Some(property)),
                (None, Additional::Schema(additional)) => Some(Some(&**additional)),
                (None, Additional::Allowed | Additional::Refused) => Some(None),
                (None, Additional::Unset) => None,
            };
            match known {
                Some(schema) => {
                    let length = self.enter(name);
                    self.value(value, schema, false);
                    self.path.truncate(length);
                    true
                }
                None if keeps => true,
                None => {
                    self.record(name);
                    false
                }
            }
        });
    }

    /// Prunes an item of a list whose schema preserves unknown fields; its items preserve them too
    /// (`skipPrune`).
    fn preserved(&mut self, value: &mut Value, schema: &Schema) {
        match value {
            Value::Object(members) => {
                for (name, value) in members.iter_mut() {
                    if schema.flags.embedded_resource && is_meta(name) {
                        continue;
                    }
                    let length = self.enter(name);
                    match (schema.property(name), &schema.additional) {
                        (Some(property), _) => self.value(value, Some(property), false),
                        (None, Additional::Schema(additional)) => self.value(value, Some(additional), false),
                        (None, Additional::Allowed | Additional::Refused) => self.value(value, None, false),
                        (None, Additional::Unset) => {}
                    }
                    self.path.truncate(length);
                }
            }
            Value::Array(items) => {
                let Some(of) = schema.items.as_deref() else { return };
                for (index, item) in items.iter_mut().enumerate() {
                    let length = self.enter_index(index);
                    self.preserved(item, of);
                    self.path.truncate(length);
                }
            }
            _ => {}
        }
    }

    fn drop_all(&mut self, members: &mut Map<String, Value>) {
        members.keys().for_each(|name| self.record(name));
        members.clear();
    }

    fn record(&mut self, name: &str) {
        // `apiVersion`, `kind` and `metadata` at the root are never reported as unknown.
        if is_meta(name) && self.path.is_empty() {
            return;
        }
        let Some(unknown) = &mut self.unknown else { return };
        if self.recorded > MAX_RECORDED {
            return;
        }
        let dot = if self.path.is_empty() { "" } else { "." };
        let path = format!("{}{dot}{name}", self.path);
        self.recorded += path.len();
        unknown.push(path);
    }

    /// Appends a name to the path, and returns the previous length for truncation.
    fn enter(&mut self, name: &str) -> usize {
        let length = self.path.len();
        if self.unknown.is_some() {
            if length > 0 {
                self.path.push('.');
            }
            self.path.push_str(name);
        }
        length
    }

    fn enter_index(&mut self, index: usize) -> usize {
        let length = self.path.len();
        if self.unknown.is_some() {
            self.path.push_str(&format!("[{index}]"));
        }
        length
    }
}
