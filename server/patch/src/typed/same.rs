//! Equality of values; numbers are compared numerically, so that 1 equals 1.0.

use std::cmp::Ordering;

use machinery::json::Node;
use serde_json::Value;

use crate::field_set::compare_values;

/// Returns whether two values are equal (`value.Equals`).
pub(crate) fn same<'v>(a: impl Into<Node<'v>>, b: impl Into<Node<'v>>) -> bool {
    match (a.into(), b.into()) {
        (Node::Tree(a), Node::Tree(b)) => are_same(a, b),
        (a, b) => a == b || a.form() == b.form() && are_same(&a.to_tree(), &b.to_tree()),
    }
}

fn are_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| are_same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| are_same(a, b)))
        }
        _ => compare_values(a, b) == Ordering::Equal,
    }
}
