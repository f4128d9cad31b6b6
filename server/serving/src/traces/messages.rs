//! OpenTelemetry's messages, as far as they are sent (`opentelemetry.proto.collector.trace.v1`).

/// Kinds of spans.
pub(super) const INTERNAL: i32 = 1;
pub(super) const SERVER: i32 = 2;
/// The code of a span whose work failed.
pub(super) const FAILED: i32 = 2;

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Export {
    #[prost(message, repeated, tag = "1")]
    pub resource_spans: Vec<ResourceSpans>,
}

/// What a collector answers; what it may say in it is of no use here.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct Exported {}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    pub resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    pub scope_spans: Vec<ScopeSpans>,
}

/// Who made the spans.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Resource {
    #[prost(message, repeated, tag = "1")]
    pub attributes: Vec<Attribute>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ScopeSpans {
    #[prost(message, repeated, tag = "2")]
    pub spans: Vec<Span>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Span {
    #[prost(bytes = "vec", tag = "1")]
    pub trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub span_id: Vec<u8>,
    #[prost(string, tag = "3")]
    pub trace_state: String,
    #[prost(bytes = "vec", tag = "4")]
    pub parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    pub name: String,
    #[prost(int32, tag = "6")]
    pub kind: i32,
    /// Nanoseconds since 1970.
    #[prost(fixed64, tag = "7")]
    pub start: u64,
    #[prost(fixed64, tag = "8")]
    pub end: u64,
    #[prost(message, repeated, tag = "9")]
    pub attributes: Vec<Attribute>,
    #[prost(message, repeated, tag = "13")]
    pub links: Vec<Link>,
    #[prost(message, optional, tag = "15")]
    pub status: Option<SpanStatus>,
}

/// A span of another trace.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Link {
    #[prost(bytes = "vec", tag = "1")]
    pub trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub span_id: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SpanStatus {
    #[prost(string, tag = "2")]
    pub message: String,
    #[prost(int32, tag = "3")]
    pub code: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(message, optional, tag = "2")]
    pub value: Option<AttributeValue>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct AttributeValue {
    #[prost(oneof = "Value", tags = "1, 3")]
    pub value: Option<Value>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum Value {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(int64, tag = "3")]
    Number(i64),
}

impl Attribute {
    /// A text by its name.
    pub(super) fn text(key: &str, value: impl Into<String>) -> Self {
        Self::of(key, Value::Text(value.into()))
    }

    /// A number by its name.
    pub(super) fn number(key: &str, value: i64) -> Self {
        Self::of(key, Value::Number(value))
    }

    fn of(key: &str, value: Value) -> Self {
        Attribute { key: key.into(), value: Some(AttributeValue { value: Some(value) }) }
    }
}
