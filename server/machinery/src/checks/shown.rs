//! How messages show the values of checks.

use super::of::Of;
use crate::def::{FieldDef, Shape};
use crate::field_error::BadValue;
use crate::json;
use crate::reflect::{FieldAccessor, List, Map, Ref, Value};
use crate::scalar::IntOrString;

impl Of<'_> {
    /// The descriptor of the field.
    fn field(&self) -> Option<&'static FieldDef> {
        self.field.map(FieldAccessor::field)
    }

    /// Whether the Go type is a named string type. Texts behind pointers count as plain strings.
    fn is_of_named_type(&self) -> bool {
        let is_pointer = matches!(self.field().map(FieldDef::shape), Some(Shape::Opt(_)));
        !is_pointer && self.field().is_some_and(|field| !field.info.go_type.is_empty())
    }

    /// The value as messages show it where upstream passes a plain string.
    pub fn shown_plain(&self) -> BadValue {
        match self.new {
            Value::String(text) if !self.is_of_named_type() => text.into(),
            _ => self.shown(),
        }
    }

    /// The value as messages show it. Texts of named types and texts behind pointers are shown as
    /// JSON.
    pub fn shown(&self) -> BadValue {
        let is_named = self.field().is_some_and(|field| {
            let is_pointer = matches!(field.shape(), Shape::Opt(_));
            is_pointer || !field.info.go_type.is_empty() || !field.info.enum_values.is_empty()
        });
        match self.new {
            Value::Bool(value) => BadValue::Bool(value),
            Value::I32(number) => number.into(),
            Value::I64(number) => number.into(),
            Value::F64(number) => BadValue::Float(number),
            Value::Quantity(quantity) => BadValue::json_string(&quantity.to_string()),
            Value::Time(time) if !time.is_zero() => BadValue::json_string(&time.to_string()),
            Value::MicroTime(time) if !time.is_zero() => BadValue::json_string(&time.to_string()),
            Value::IntOrString(IntOrString::Int(number)) => (*number).into(),
            Value::IntOrString(IntOrString::String(text)) => BadValue::json_string(text),
            Value::String(text) if is_named => BadValue::json_string(text),
            Value::String(text) => text.into(),
            Value::List(List::String(items)) => BadValue::strings(items),
            Value::Map(Map::String(values)) => BadValue::string_map(values),
            Value::Map(Map::Quantity(amounts)) if !amounts.is_empty() => {
                let texts = amounts.iter().map(|(name, amount)| (name.clone(), amount.to_string()));
                BadValue::string_map(&texts.collect())
            }
            Value::Bytes(bytes) if !bytes.is_empty() => BadValue::bytes(bytes),
            Value::RawExtension(document) if !document.is_empty() => {
                let mut out = Vec::new();
                document.append_json(&mut out);
                BadValue::Json(String::from_utf8_lossy(&out).into_owned())
            }
            Value::Struct(value) => BadValue::Json(internal_text(value)),
            Value::StructList(items) if !items.is_empty() => {
                let items: Vec<String> = items.iter().map(internal_text).collect();
                BadValue::Json(format!("[{}]", items.join(",")))
            }
            _ => BadValue::None,
        }
    }
}

/// A struct as messages show it: the JSON of upstream's internal type.
fn internal_text(value: Ref<'_>) -> String {
    let mut out = Vec::new();
    json::encode_internal(value, json::internal_type, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}
