//! Determines which definitions a document needs: those that operations refer to, and those that
//! definitions refer to.

use std::collections::BTreeSet;

use serde_json::Value;

/// Prefix of references in v3.
pub(crate) const SCHEMAS: &str = "#/components/schemas/";
/// Prefix of references in v2.
pub(crate) const DEFINITIONS: &str = "#/definitions/";

/// `roots` and every definition reachable from them by references that start with `prefix`.
pub(crate) fn closure<'a>(
    prefix: &str,
    definition: impl Fn(&str) -> Option<&'a Value>,
    roots: impl IntoIterator<Item = &'a str>,
) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = roots.into_iter().collect();
    while let Some(name) = open.pop() {
        if seen.insert(name)
            && let Some(schema) = definition(name)
        {
            collect(schema, prefix, &mut open);
        }
    }
    seen
}

/// The names of all definitions that a value refers to.
pub(crate) fn collect<'a>(value: &'a Value, prefix: &str, found: &mut Vec<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, prefix, found)),
        Value::Object(members) => {
            for (key, value) in members {
                match value.as_str() {
                    Some(target) if key == "$ref" => found.extend(target.strip_prefix(prefix)),
                    _ => collect(value, prefix, found),
                }
            }
        }
        _ => {}
    }
}
