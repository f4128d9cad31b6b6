//! Whether a merged document still has the shape of its type, in the words of upstream's `DefaultUnstructuredConverter`.

use machinery::def::{JsonForm, Scalar, Shape, StructDef};
use serde_json::Value;

/// The first place that cannot be what its type says; scalars with a text form of their own are left to the decoder.
pub(super) fn error(def: &'static StructDef, value: &Value) -> Option<String> {
    if value.is_null() {
        return None;
    }
    match def.json_form {
        JsonForm::Fields => {}
        JsonForm::Items => return list(value, |item| scalar(Scalar::String, item)),
        JsonForm::SchemaOrArray | JsonForm::SchemaOrBool | JsonForm::SchemaOrStrings | JsonForm::Open => return None,
    }
    let Value::Object(members) = value else {
        return Some(format!("cannot restore struct from: {}", kind(value)));
    };
    def.json_fields().find_map(|field| {
        let value = members.get(field.json).filter(|value| !value.is_null())?;
        match field.shape() {
            Shape::One(of) | Shape::Opt(of) => scalar(of, value),
            Shape::List(of) => list(value, |item| scalar(of, item)),
            Shape::Map(of) => map(value, |item| scalar(of, item)),
            Shape::Struct(def) | Shape::OptStruct(def) => error(def, value),
            Shape::StructList(def, _) => list(value, |item| error(def, item)),
            Shape::StructMap(def, _) => map(value, |item| error(def, item)),
        }
    })
}

fn list(value: &Value, item: impl Fn(&Value) -> Option<String>) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Array(items) => items.iter().find_map(item),
        other => Some(format!("cannot restore slice from {}", kind(other))),
    }
}

fn map(value: &Value, item: impl Fn(&Value) -> Option<String>) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Object(members) => members.values().find_map(item),
        other => Some(format!("cannot restore map from {}", kind(other))),
    }
}

fn scalar(of: Scalar, value: &Value) -> Option<String> {
    let wanted = match of {
        Scalar::Bool => "bool",
        Scalar::I32 => "int32",
        Scalar::I64 => "int64",
        Scalar::F64 => "float64",
        Scalar::String => "string",
        Scalar::Bytes if !value.is_string() => return list(value, |_| None),
        _ => return None,
    };
    let is_whole = value.as_f64().is_some_and(|number| number.fract() == 0.0);
    match (of, value) {
        (_, Value::Null)
        | (Scalar::Bool, Value::Bool(_))
        | (Scalar::String, Value::String(_))
        | (Scalar::F64, Value::Number(_)) => None,
        (Scalar::I32 | Scalar::I64, Value::Number(_)) if is_whole => None,
        (Scalar::I32 | Scalar::I64, Value::Number(_)) => Some(format!("cannot convert float64 to {wanted}")),
        // Go would make an integer the character of that code, so it calls this a conversion.
        (Scalar::String, Value::Number(number)) if !number.is_f64() => {
            Some(format!("cannot convert int64 to {wanted}"))
        }
        _ => Some(format!("unrecognized type: {wanted}")),
    }
}

/// Go's `reflect.Kind` of decoded JSON.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
        Value::Null => "invalid",
        other => crate::go_print::type_name(other),
    }
}
