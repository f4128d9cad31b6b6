//! Messages of `openapi.v3`.

use serde_json::Value;

use super::writer::Shape::{
    Any, Anys, Flag, Integer, Message as One, MessageOrFlag, Named, NamedTexts, Number, Scalar, Text,
};
use super::writer::{Message, field};

pub(super) static DOCUMENT: Message = Message {
    fields: &[
        field("openapi", &[1], Text),
        field("info", &[2], One(|_| (&[], &INFO))),
        field("paths", &[4, 1], Named(|_| (&[], &PATH_ITEM))),
        field("components", &[5], One(|_| (&[], &COMPONENTS))),
        field("security", &[6], NamedTexts),
        field("externalDocs", &[8], One(|_| (&[], &EXTERNAL_DOCS))),
    ],
    extensions: 9,
};

static INFO: Message = Message {
    fields: &[
        field("title", &[1], Text),
        field("description", &[2], Text),
        field("termsOfService", &[3], Text),
        field("version", &[6], Text),
    ],
    extensions: 7,
};

static EXTERNAL_DOCS: Message =
    Message { fields: &[field("description", &[1], Text), field("url", &[2], Text)], extensions: 3 };

static COMPONENTS: Message = Message {
    fields: &[
        field("schemas", &[1, 1], Named(schema)),
        field("responses", &[2, 1], Named(response)),
        field("parameters", &[3, 1], Named(parameter)),
        field("requestBodies", &[5, 1], Named(request_body)),
        field("securitySchemes", &[7, 1], Named(|_| (&[1], &SECURITY_SCHEME))),
    ],
    extensions: 10,
};

static SECURITY_SCHEME: Message = Message {
    fields: &[
        field("type", &[1], Text),
        field("description", &[2], Text),
        field("name", &[3], Text),
        field("in", &[4], Text),
        field("scheme", &[5], Text),
        field("bearerFormat", &[6], Text),
    ],
    extensions: 9,
};

static PATH_ITEM: Message = Message {
    fields: &[
        field("$ref", &[1], Text),
        field("summary", &[2], Text),
        field("description", &[3], Text),
        field("get", &[4], One(|_| (&[], &OPERATION))),
        field("put", &[5], One(|_| (&[], &OPERATION))),
        field("post", &[6], One(|_| (&[], &OPERATION))),
        field("delete", &[7], One(|_| (&[], &OPERATION))),
        field("options", &[8], One(|_| (&[], &OPERATION))),
        field("head", &[9], One(|_| (&[], &OPERATION))),
        field("patch", &[10], One(|_| (&[], &OPERATION))),
        field("trace", &[11], One(|_| (&[], &OPERATION))),
        field("parameters", &[13], One(parameter)),
    ],
    extensions: 14,
};

static OPERATION: Message = Message {
    fields: &[
        field("tags", &[1], Text),
        field("summary", &[2], Text),
        field("description", &[3], Text),
        field("externalDocs", &[4], One(|_| (&[], &EXTERNAL_DOCS))),
        field("operationId", &[5], Text),
        field("parameters", &[6], One(parameter)),
        field("requestBody", &[7], One(request_body)),
        field("responses", &[8, 2], Named(response)),
        field("deprecated", &[10], Flag),
        field("security", &[11], NamedTexts),
    ],
    extensions: 13,
};

static REFERENCE: Message = Message {
    fields: &[field("$ref", &[1], Text), field("summary", &[2], Text), field("description", &[3], Text)],
    extensions: 0,
};

static PARAMETER: Message = Message {
    fields: &[
        field("name", &[1], Text),
        field("in", &[2], Text),
        field("description", &[3], Text),
        field("required", &[4], Flag),
        field("deprecated", &[5], Flag),
        field("allowEmptyValue", &[6], Flag),
        field("style", &[7], Text),
        field("explode", &[8], Flag),
        field("allowReserved", &[9], Flag),
        field("schema", &[10], One(schema)),
        field("example", &[11], Any),
        field("content", &[13, 1], Named(|_| (&[], &MEDIA_TYPE))),
    ],
    extensions: 14,
};

static REQUEST_BODY: Message = Message {
    fields: &[
        field("description", &[1], Text),
        field("content", &[2, 1], Named(|_| (&[], &MEDIA_TYPE))),
        field("required", &[3], Flag),
    ],
    extensions: 4,
};

static RESPONSE: Message = Message {
    fields: &[field("description", &[1], Text), field("content", &[3, 1], Named(|_| (&[], &MEDIA_TYPE)))],
    extensions: 5,
};

static MEDIA_TYPE: Message =
    Message { fields: &[field("schema", &[1], One(schema)), field("example", &[2], Any)], extensions: 5 };

static SCHEMA: Message = Message {
    fields: &[
        field("nullable", &[1], Flag),
        field("readOnly", &[3], Flag),
        field("writeOnly", &[4], Flag),
        field("externalDocs", &[6], One(|_| (&[], &EXTERNAL_DOCS))),
        field("example", &[7], Any),
        field("deprecated", &[8], Flag),
        field("title", &[9], Text),
        field("multipleOf", &[10], Number),
        field("maximum", &[11], Number),
        field("exclusiveMaximum", &[12], Flag),
        field("minimum", &[13], Number),
        field("exclusiveMinimum", &[14], Flag),
        field("maxLength", &[15], Integer),
        field("minLength", &[16], Integer),
        field("pattern", &[17], Text),
        field("maxItems", &[18], Integer),
        field("minItems", &[19], Integer),
        field("uniqueItems", &[20], Flag),
        field("maxProperties", &[21], Integer),
        field("minProperties", &[22], Integer),
        field("required", &[23], Text),
        field("enum", &[24], Anys),
        field("type", &[25], Text),
        field("allOf", &[26], One(schema)),
        field("oneOf", &[27], One(schema)),
        field("anyOf", &[28], One(schema)),
        field("not", &[29], One(|_| (&[], &SCHEMA))),
        field("items", &[30, 1], One(schema)),
        field("properties", &[31, 1], Named(schema)),
        field("additionalProperties", &[32], MessageOrFlag(schema)),
        field("default", &[33], Scalar),
        field("description", &[34], Text),
        field("format", &[35], Text),
    ],
    extensions: 36,
};

fn schema(value: &Value) -> (&'static [u32], &'static Message) {
    or_reference(value, &SCHEMA)
}

fn parameter(value: &Value) -> (&'static [u32], &'static Message) {
    or_reference(value, &PARAMETER)
}

fn request_body(value: &Value) -> (&'static [u32], &'static Message) {
    or_reference(value, &REQUEST_BODY)
}

fn response(value: &Value) -> (&'static [u32], &'static Message) {
    or_reference(value, &RESPONSE)
}

/// Selects the branch of gnostic's `XOrReference`.
fn or_reference(value: &Value, table: &'static Message) -> (&'static [u32], &'static Message) {
    if value.get("$ref").is_some() { (&[2], &REFERENCE) } else { (&[1], table) }
}
