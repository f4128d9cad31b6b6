//! The protobuf encoding of documents: gnostic's `openapi.v2.Document` and `openapi.v3.Document`
//! (<https://github.com/google/gnostic>).
//!
//! kubectl and client-go request it because it parses faster than JSON.
//!
//! Each message is a table from JSON members to field numbers; one writer walks a JSON document
//! along the tables. Members without an entry are omitted, except extensions (`x-..`), whose values
//! are encoded as YAML text.

mod v2_tables;
mod v3_tables;
mod writer;

use serde_json::Value;

/// A v2 document as `application/com.github.proto-openapi.spec.v2.v1.0+protobuf`.
pub fn v2(document: &Value) -> Vec<u8> {
    writer::message(&v2_tables::DOCUMENT, document)
}

/// A v3 document as `application/com.github.proto-openapi.spec.v3.v1.0+protobuf`.
pub fn v3(document: &Value) -> Vec<u8> {
    writer::message(&v3_tables::DOCUMENT, document)
}

#[cfg(test)]
mod tests;
