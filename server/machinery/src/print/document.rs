//! Cells and texts of undeclared values (`tableconvertor.cellForJSONValue`).

use serde_json::Value as Tree;

use super::{Cell, PrintContext};
use crate::field_error::BadValue;
use crate::json;
use crate::json_path::JsonPath;
use crate::reflect::{Ref, Value};
use crate::scalar::Time;

/// A tree as a field value; `None` for lists and objects.
pub(super) fn value(tree: &Tree) -> Option<Value<'_>> {
    match tree {
        Tree::Bool(v) => Some(Value::Bool(*v)),
        Tree::Number(n) => Some(n.as_i64().map_or(Value::F64(n.as_f64().unwrap_or(0.0)), Value::I64)),
        Tree::String(text) => Some(Value::String(text)),
        Tree::Null | Tree::Array(_) | Tree::Object(_) => None,
    }
}

/// The cell of a column of this type.
pub(super) fn cell(object: Ref<'_>, path: &JsonPath, kind: &str, context: &PrintContext) -> Cell {
    // Only the first member of the path is converted to a tree: usually metadata.
    let declared = path.first().and_then(|name| object.def().json_field(name).and_then(|_| object.by_name(name)));
    if let Some(member) = declared {
        let member = serde_json::to_value(member).unwrap_or_default();
        return path.find_below(&member).map_or(Cell::Null, |found| of_type(found, kind, context));
    }
    let found = match (object.undeclared(), path.first()) {
        (Some(document), Some(name)) => {
            return document
                .0
                .get(name)
                .and_then(|member| path.find_below(member))
                .map_or(Cell::Null, |found| of_type(found, kind, context));
        }
        _ => json::to_value(object),
    };
    path.find(&found).map_or(Cell::Null, |found| of_type(found, kind, context))
}

fn of_type(found: &Tree, kind: &str, context: &PrintContext) -> Cell {
    match (kind, found) {
        ("string", found) => Cell::Text(text(found)),
        ("integer", Tree::Number(n)) => Cell::Int(n.as_i64().unwrap_or_else(|| n.as_f64().unwrap_or(0.0) as i64)),
        ("number", Tree::Number(n)) => n.as_f64().map_or(Cell::Null, Cell::Float),
        ("boolean", Tree::Bool(v)) => Cell::Bool(*v),
        ("date", Tree::String(text)) => match Time::parse(text) {
            Ok(then) => Cell::Text(context.age(then)),
            Err(_) => Cell::from("<invalid>"),
        },
        _ => Cell::Null,
    }
}

/// A value as Go prints it; lists and objects as JSON.
fn text(found: &Tree) -> String {
    match found {
        Tree::String(text) => text.clone(),
        Tree::Null => "<nil>".into(),
        Tree::Number(n) => match n.as_i64() {
            Some(n) => n.to_string(),
            None => BadValue::Float(n.as_f64().unwrap_or(0.0)).to_string(),
        },
        other => {
            let mut out = Vec::new();
            json::encode_value(other, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        }
    }
}
