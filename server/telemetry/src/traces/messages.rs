//! The messages of `proto/trace.proto`.

#![allow(clippy::all, clippy::pedantic, missing_docs, reason = "written by prost-build")]

include!(concat!(env!("OUT_DIR"), "/trace.rs"));

pub(super) use any_value::Value;
pub(super) use span::{Link, SpanKind};
pub(super) use status::StatusCode as SpanCode;

impl KeyValue {
    /// A string attribute.
    pub(super) fn text(key: &str, value: impl Into<String>) -> Self {
        Self::of(key, Value::StringValue(value.into()))
    }

    /// An integer attribute.
    pub(super) fn number(key: &str, value: i64) -> Self {
        Self::of(key, Value::IntValue(value))
    }

    fn of(key: &str, value: Value) -> Self {
        KeyValue { key: key.into(), value: Some(AnyValue { value: Some(value) }) }
    }
}
