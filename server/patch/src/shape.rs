//! Checks whether a document has the structure of its type, with the errors of upstream's
//! `DefaultUnstructuredConverter`.

use machinery::def::{FieldDef, FieldInfo, JsonForm, Scalar, Shape, StructDef};
use machinery::json;
use serde_json::Value;

/// The type of a document.
struct Document<'v> {
    root: &'static StructDef,
    version: &'v str,
}

/// A field, and the struct that declares it.
#[derive(Clone, Copy)]
struct Place {
    home: &'static StructDef,
    info: &'static FieldInfo,
}

/// Returns the first type error of a document of this version. Types with a JSON form of their own are
/// left to the decoder.
pub fn shape_error(root: &'static StructDef, version: &str, value: &Value) -> Option<String> {
    let document = Document { root, version };
    let place = Place { home: root, info: &FieldInfo::PLAIN };
    let type_meta = ["kind", "apiVersion"].into_iter().filter_map(|name| value.get(name));
    let kind_error = type_meta.into_iter().find_map(|text| document.scalar(Scalar::String, place, text));
    kind_error.or_else(|| document.structure(root, value))
}

impl Document<'_> {
    fn structure(&self, def: &'static StructDef, value: &Value) -> Option<String> {
        let plain = Place { home: def, info: &FieldInfo::PLAIN };
        match def.json_form {
            _ if value.is_null() => return None,
            JsonForm::Fields => {}
            JsonForm::Items => return list(value, |item| self.scalar(Scalar::String, plain, item)),
            JsonForm::SchemaOrArray | JsonForm::SchemaOrBool | JsonForm::SchemaOrStrings | JsonForm::Open => {
                return None;
            }
        }
        let Value::Object(members) = value else {
            return Some(format!("cannot restore struct from: {}", kind(value)));
        };
        def.json_fields().find_map(|field| self.field(def, field, members.get(field.json)?))
    }

    fn field(&self, home: &'static StructDef, field: &FieldDef, value: &Value) -> Option<String> {
        let place = Place { home, info: field.info };
        match field.shape() {
            Shape::One(of) | Shape::Opt(of) => self.scalar(of, place, value),
            Shape::List(of) => list(value, |item| self.scalar(of, place, item)),
            Shape::Map(of) => map(value, |item| self.scalar(of, place, item)),
            Shape::Struct(def) | Shape::OptStruct(def) => self.structure(def, value),
            Shape::StructList(def, _) => list(value, |item| self.structure(def, item)),
            Shape::StructMap(def, _) => map(value, |item| self.structure(def, item)),
        }
    }

    fn scalar(&self, of: Scalar, place: Place, value: &Value) -> Option<String> {
        let wanted = match of {
            _ if value.is_null() => return None,
            Scalar::Bool => "bool",
            Scalar::I32 => "int32",
            Scalar::I64 => "int64",
            Scalar::F64 => "float64",
            Scalar::String => "string",
            Scalar::Bytes if value.is_string() => {
                return json::value_error(of, value).map(|why| format!("error decoding from json: {why}"));
            }
            Scalar::Bytes => return list(value, byte),
            _ => return json::value_error(of, value),
        };
        match (of, value) {
            (Scalar::Bool, Value::Bool(_)) | (Scalar::String, Value::String(_)) | (Scalar::F64, Value::Number(_)) => {
                None
            }
            (Scalar::I32 | Scalar::I64, Value::Number(_)) => integer(wanted, value),
            // Go converts an integer to the character of that code, so its message names a conversion.
            (Scalar::String, Value::Number(number)) if !number.is_f64() => {
                let wanted = json::string_type(self.root, self.version, place.home, place.info);
                Some(format!("cannot convert int64 to {wanted}"))
            }
            _ => Some(format!("unrecognized type: {wanted}")),
        }
    }
}

fn integer(wanted: &str, value: &Value) -> Option<String> {
    let is_whole = value.as_f64().is_some_and(|number| number.fract() == 0.0);
    (!is_whole).then(|| format!("cannot convert float64 to {wanted}"))
}

fn byte(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Number(_) => integer("uint8", value),
        _ => Some("unrecognized type: uint8".into()),
    }
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

/// Go's `reflect.Kind` of decoded JSON.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
        Value::Null => "invalid",
        other => crate::go_print::type_name(other),
    }
}
