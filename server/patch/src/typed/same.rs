//! Equality of values: numbers by their worth, so that 1 and 1.0 are the same.

use std::cmp::Ordering;

use serde_json::Value;

use crate::field_set::compare_values;

/// Whether two values are the same (`value.Equals`).
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => compare_values(a, b) == Ordering::Equal,
    }
}
