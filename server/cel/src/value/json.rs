//! Conversion of documents to values and back.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map as JsonMap, Number, Value as Json};

use super::{ListForString, ListValue, MapValue, Text, Value};
use crate::error::Error;
use crate::time;
use crate::types::Type;

/// A document as a value of a type. A document that does not match its type is read by its JSON type.
pub(super) fn read<'a>(document: &'a Json, of: &'a Type) -> Value<'a> {
    match document {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => read_number(number, of),
        Json::String(text) => read_text(text, of),
        Json::Array(items) => match of {
            Type::List(of) => Value::List(ListValue::Json(items, Some(of))),
            Type::String | Type::Bytes | Type::Timestamp | Type::Duration => Value::opaque(ListForString),
            _ => Value::List(ListValue::Json(items, None)),
        },
        Json::Object(members) => match of {
            Type::Object(of) => Value::Map(MapValue::Object(members, of)),
            Type::Map(of) => Value::Map(MapValue::Json(members, &of.1)),
            _ => Value::Map(MapValue::Json(members, &Type::Dyn)),
        },
    }
}

fn read_number<'a>(number: &Number, of: &Type) -> Value<'a> {
    match (number.as_i64(), of) {
        (Some(value), Type::Double) => Value::Double(value as f64),
        (Some(value), _) => Value::Int(value),
        (None, _) => Value::Double(number.as_f64().unwrap_or(f64::NAN)),
    }
}

fn read_text<'a>(text: &'a str, of: &Type) -> Value<'a> {
    let special = match of {
        Type::Timestamp => time::parse_timestamp(text).or_else(|| time::parse_date(text)).map(Value::Timestamp),
        Type::Duration => time::parse_duration(text).map(Value::Duration),
        Type::Bytes => BASE64_STANDARD.decode(text).ok().map(|bytes| Value::Bytes(Arc::from(bytes))),
        _ => None,
    };
    special.unwrap_or(Value::String(Text::Borrowed(text)))
}

/// A value as a document.
pub(super) fn write(value: &Value<'_>) -> Result<Json, Error> {
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Int(value) => Json::from(*value),
        Value::Uint(value) => Json::from(*value),
        Value::Double(value) => Number::from_f64(*value).map(Json::Number).ok_or(Error::NotFinite)?,
        Value::String(text) => Json::String(text.to_string()),
        Value::Bytes(bytes) => Json::String(BASE64_STANDARD.encode(bytes)),
        Value::Timestamp(nanos) => Json::String(time::format_timestamp(*nanos)),
        Value::Duration(nanos) => Json::String(time::format_duration(*nanos)),
        Value::List(list) => Json::Array(list.iter().map(|item| write(&item)).collect::<Result<_, _>>()?),
        Value::Map(map) => write_map(map)?,
        Value::Optional(Some(value)) => write(value)?,
        Value::Optional(None) => Json::Null,
        Value::Type(_) | Value::Opaque(_) => return Err(Error::NotJson(value.type_of().to_string())),
    })
}

fn write_map(map: &MapValue<'_>) -> Result<Json, Error> {
    if let MapValue::Json(members, _) | MapValue::Object(members, _) = map {
        return Ok(Json::Object((*members).clone()));
    }
    let mut members = JsonMap::new();
    for (key, value) in map.entries() {
        let key = key.as_str().ok_or_else(|| Error::KeyNotJson(key.type_of().to_string()))?;
        members.insert(key.to_owned(), write(&value)?);
    }
    Ok(Json::Object(members))
}
