//! `application/cbor` (KEP-4222): the JSON form of an object in CBOR, after the self-described tag
//! (0xd9d9f7).
//!
//! As upstream, strings and keys are written as byte strings, and keys are sorted by their encoded
//! bytes; both kinds of strings are accepted. The codec builds a tree: the format is off by default
//! and not performance-critical.

mod magic;
mod read;
mod tree;
mod write;

use crate::json::{Error, Issues, Value, from_value, parse, to_value as tree_of};
use crate::reflect::{Mut, Ref};
pub use magic::MAGIC;
pub(crate) use tree::check;
pub use tree::{to_json, to_value};

/// Whether the bytes start with the self-described tag.
pub fn is_self_described(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Appends a struct as tagged CBOR.
pub fn encode(value: Ref<'_>, out: &mut Vec<u8>) {
    encode_value(&tree_of(value), out);
}

/// Appends an object with this version and kind as tagged CBOR.
pub fn encode_object(api_version: &str, kind: &str, value: Ref<'_>, out: &mut Vec<u8>) {
    let mut tree = tree_of(value);
    if let Value::Object(map) = &mut tree {
        map.insert("apiVersion".into(), api_version.into());
        map.insert("kind".into(), kind.into());
    }
    encode_value(&tree, out);
}

/// Appends a tree as tagged CBOR.
pub fn encode_value(value: &Value, out: &mut Vec<u8>) {
    out.extend_from_slice(&MAGIC);
    write::value(value, out);
}

/// Decodes a document into a struct. As upstream, duplicate keys are an error, not an issue.
///
/// # Errors
/// [`Error`] when the bytes are not CBOR, JSON cannot represent the document, a value has another
/// type than its field or is malformed, or the document exceeds a limit.
pub fn decode(document: &[u8], into: Mut<'_>, issues: &mut Issues) -> Result<(), Error> {
    from_value(&to_value(document)?, into, issues)
}

/// Appends a JSON text as tagged CBOR.
///
/// # Errors
/// As [`parse`].
pub fn from_json(text: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    encode_value(&parse(text, &mut Issues::ignore())?, out);
    Ok(())
}

#[cfg(test)]
mod tests;
