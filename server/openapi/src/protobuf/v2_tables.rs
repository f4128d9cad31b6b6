//! Messages of `openapi.v2`.

use serde_json::Value;

use super::writer::Shape::{Any, Anys, Flag, Integer, Message as One, MessageOrFlag, Named, NamedTexts, Number, Text};
use super::writer::{Message, field};

pub(super) static DOCUMENT: Message = Message {
    fields: &[
        field("swagger", &[1], Text),
        field("info", &[2], One(|_| (&[], &INFO))),
        field("host", &[3], Text),
        field("basePath", &[4], Text),
        field("schemes", &[5], Text),
        field("consumes", &[6], Text),
        field("produces", &[7], Text),
        field("paths", &[8, 2], Named(|_| (&[], &PATH_ITEM))),
        field("definitions", &[9, 1], Named(|_| (&[], &SCHEMA))),
        field("parameters", &[10, 1], Named(parameter)),
        field("responses", &[11, 1], Named(|_| (&[], &RESPONSE))),
        field("security", &[12], NamedTexts),
        field("securityDefinitions", &[13, 1], Named(security)),
        field("tags", &[14], One(|_| (&[], &TAG))),
        field("externalDocs", &[15], One(|_| (&[], &EXTERNAL_DOCS))),
    ],
    extensions: 16,
};

static INFO: Message = Message {
    fields: &[
        field("title", &[1], Text),
        field("version", &[2], Text),
        field("description", &[3], Text),
        field("termsOfService", &[4], Text),
    ],
    extensions: 7,
};

static TAG: Message = Message { fields: &[field("name", &[1], Text), field("description", &[2], Text)], extensions: 4 };

static EXTERNAL_DOCS: Message =
    Message { fields: &[field("description", &[1], Text), field("url", &[2], Text)], extensions: 3 };

static PATH_ITEM: Message = Message {
    fields: &[
        field("$ref", &[1], Text),
        field("get", &[2], One(|_| (&[], &OPERATION))),
        field("put", &[3], One(|_| (&[], &OPERATION))),
        field("post", &[4], One(|_| (&[], &OPERATION))),
        field("delete", &[5], One(|_| (&[], &OPERATION))),
        field("options", &[6], One(|_| (&[], &OPERATION))),
        field("head", &[7], One(|_| (&[], &OPERATION))),
        field("patch", &[8], One(|_| (&[], &OPERATION))),
        field("parameters", &[9], One(parameter_or_reference)),
    ],
    extensions: 10,
};

static OPERATION: Message = Message {
    fields: &[
        field("tags", &[1], Text),
        field("summary", &[2], Text),
        field("description", &[3], Text),
        field("externalDocs", &[4], One(|_| (&[], &EXTERNAL_DOCS))),
        field("operationId", &[5], Text),
        field("produces", &[6], Text),
        field("consumes", &[7], Text),
        field("parameters", &[8], One(parameter_or_reference)),
        field("responses", &[9, 1], Named(response_or_reference)),
        field("schemes", &[10], Text),
        field("deprecated", &[11], Flag),
        field("security", &[12], NamedTexts),
    ],
    extensions: 13,
};

static REFERENCE: Message =
    Message { fields: &[field("$ref", &[1], Text), field("description", &[2], Text)], extensions: 0 };

static RESPONSE: Message = Message {
    fields: &[field("description", &[1], Text), field("schema", &[2, 1], One(|_| (&[], &SCHEMA)))],
    extensions: 5,
};

static BODY_PARAMETER: Message = Message {
    fields: &[
        field("description", &[1], Text),
        field("name", &[2], Text),
        field("in", &[3], Text),
        field("required", &[4], Flag),
        field("schema", &[5], One(|_| (&[], &SCHEMA))),
    ],
    extensions: 6,
};

/// Header and path parameters.
static PLAIN_PARAMETER: Message = Message {
    fields: &[
        field("required", &[1], Flag),
        field("in", &[2], Text),
        field("description", &[3], Text),
        field("name", &[4], Text),
        field("type", &[5], Text),
        field("format", &[6], Text),
        field("items", &[7], One(|_| (&[], &PRIMITIVES_ITEMS))),
        field("collectionFormat", &[8], Text),
        field("default", &[9], Any),
        field("pattern", &[16], Text),
        field("uniqueItems", &[19], Flag),
        field("enum", &[20], Anys),
    ],
    extensions: 22,
};

/// Query and form parameters, whose value may be empty.
static EMPTYABLE_PARAMETER: Message = Message {
    fields: &[
        field("required", &[1], Flag),
        field("in", &[2], Text),
        field("description", &[3], Text),
        field("name", &[4], Text),
        field("allowEmptyValue", &[5], Flag),
        field("type", &[6], Text),
        field("format", &[7], Text),
        field("items", &[8], One(|_| (&[], &PRIMITIVES_ITEMS))),
        field("collectionFormat", &[9], Text),
        field("default", &[10], Any),
        field("pattern", &[17], Text),
        field("uniqueItems", &[20], Flag),
        field("enum", &[21], Anys),
    ],
    extensions: 23,
};

static PRIMITIVES_ITEMS: Message = Message {
    fields: &[field("type", &[1], Text), field("format", &[2], Text), field("enum", &[16], Anys)],
    extensions: 18,
};

static API_KEY: Message = Message {
    fields: &[
        field("type", &[1], Text),
        field("name", &[2], Text),
        field("in", &[3], Text),
        field("description", &[4], Text),
    ],
    extensions: 5,
};

static BASIC: Message =
    Message { fields: &[field("type", &[1], Text), field("description", &[2], Text)], extensions: 3 };

static SCHEMA: Message = Message {
    fields: &[
        field("$ref", &[1], Text),
        field("format", &[2], Text),
        field("title", &[3], Text),
        field("description", &[4], Text),
        field("default", &[5], Any),
        field("multipleOf", &[6], Number),
        field("maximum", &[7], Number),
        field("exclusiveMaximum", &[8], Flag),
        field("minimum", &[9], Number),
        field("exclusiveMinimum", &[10], Flag),
        field("maxLength", &[11], Integer),
        field("minLength", &[12], Integer),
        field("pattern", &[13], Text),
        field("maxItems", &[14], Integer),
        field("minItems", &[15], Integer),
        field("uniqueItems", &[16], Flag),
        field("maxProperties", &[17], Integer),
        field("minProperties", &[18], Integer),
        field("required", &[19], Text),
        field("enum", &[20], Anys),
        field("additionalProperties", &[21], MessageOrFlag(|_| (&[], &SCHEMA))),
        field("type", &[22, 1], Text),
        field("items", &[23, 1], One(|_| (&[], &SCHEMA))),
        field("allOf", &[24], One(|_| (&[], &SCHEMA))),
        field("properties", &[25, 1], Named(|_| (&[], &SCHEMA))),
        field("discriminator", &[26], Text),
        field("readOnly", &[27], Flag),
        field("externalDocs", &[29], One(|_| (&[], &EXTERNAL_DOCS))),
        field("example", &[30], Any),
    ],
    extensions: 31,
};

fn parameter_or_reference(value: &Value) -> (&'static [u32], &'static Message) {
    if value.get("$ref").is_some() {
        return (&[2], &REFERENCE);
    }
    match place(value) {
        "body" => (&[1, 1], &BODY_PARAMETER),
        "header" => (&[1, 2, 1], &PLAIN_PARAMETER),
        "formData" => (&[1, 2, 2], &EMPTYABLE_PARAMETER),
        "query" => (&[1, 2, 3], &EMPTYABLE_PARAMETER),
        _ => (&[1, 2, 4], &PLAIN_PARAMETER),
    }
}

/// The message of a shared parameter, which cannot be a reference.
fn parameter(value: &Value) -> (&'static [u32], &'static Message) {
    match parameter_or_reference(value) {
        ([1, path @ ..], table) => (path, table),
        other => other,
    }
}

fn response_or_reference(value: &Value) -> (&'static [u32], &'static Message) {
    if value.get("$ref").is_some() { (&[2], &REFERENCE) } else { (&[1], &RESPONSE) }
}

fn security(value: &Value) -> (&'static [u32], &'static Message) {
    if value.get("type").and_then(Value::as_str) == Some("basic") { (&[1], &BASIC) } else { (&[2], &API_KEY) }
}

fn place(value: &Value) -> &str {
    value.get("in").and_then(Value::as_str).unwrap_or_default()
}
