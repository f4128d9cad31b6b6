//! Warnings for deprecated fields that a write sets.

use std::collections::HashSet;

use crate::def::{Flags, StructDef};
use crate::field_path::Path;
use crate::reflect::{Ref, Value};

/// Limit on the number of warnings for one write.
const MAX_WARNINGS: usize = 20;

/// Whether a struct, or one below it, declares a deprecated field.
pub fn is_declared(def: &'static StructDef) -> bool {
    is_below(def, &mut HashSet::new())
}

fn is_below(def: &'static StructDef, seen: &mut HashSet<*const StructDef>) -> bool {
    seen.insert(def)
        && def.fields.iter().any(|field| {
            field.flags.has(Flags::DEPRECATED) || field.shape().struct_def().is_some_and(|below| is_below(below, seen))
        })
}

/// A warning for each deprecated field that `new` sets and `old` does not have with the same value.
pub fn warnings(new: Ref<'_>, old: Option<Ref<'_>>) -> Vec<String> {
    let mut out = Vec::new();
    collect(new, old, &Path::NONE, &mut out);
    out
}

fn collect(new: Ref<'_>, old: Option<Ref<'_>>, path: &Path<'_>, out: &mut Vec<String>) {
    for (index, field) in new.def().fields.iter().enumerate() {
        if out.len() >= MAX_WARNINGS {
            return;
        }
        let (value, before) = (new.get(index), old.map(|old| old.get(index)));
        // An inlined struct does not extend the path.
        let below = if field.json.is_empty() { *path } else { path.child(field.json) };
        if field.flags.has(Flags::DEPRECATED) && !value.is_empty() && before.as_ref() != Some(&value) {
            out.push(format!("{below}: deprecated"));
        }
        collect_below(value, before, &below, out);
    }
}

fn collect_below(value: Value<'_>, before: Option<Value<'_>>, path: &Path<'_>, out: &mut Vec<String>) {
    match value {
        Value::Struct(new) => {
            let old = before.and_then(|before| if let Value::Struct(old) = before { Some(old) } else { None });
            collect(new, old, path, out);
        }
        Value::StructList(items) => {
            let old = |index: usize| match before {
                Some(Value::StructList(items)) => items.get(index),
                _ => None,
            };
            for (index, item) in items.iter().enumerate() {
                collect(item, old(index), &path.index(index), out);
            }
        }
        Value::StructMap(entries) => entries.for_each(|key, value| {
            let old = match before {
                Some(Value::StructMap(entries)) => entries.get(key),
                _ => None,
            };
            collect(value, old, &path.key(key), out);
        }),
        _ => {}
    }
}
