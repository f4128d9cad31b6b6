//! Documents as trees.

use super::read;
use crate::json::encode_value as encode_json;
use crate::json::{Error, Value};
use crate::limits::MAX_DEPTH;

/// Decodes a document, tagged or not, to a tree.
///
/// # Errors
/// [`Error`] when the bytes are not CBOR, JSON cannot represent the document, or the document
/// exceeds a limit.
pub fn to_value(document: &[u8]) -> Result<Value, Error> {
    read::document(document, MAX_DEPTH)
}

/// Checks that a document is well-formed and nests at most this many containers and tags.
pub(crate) fn check(document: &[u8], max_depth: usize) -> Result<(), Error> {
    read::document(document, max_depth).map(drop)
}

/// Converts a document to JSON.
///
/// # Errors
/// As [`to_value`].
pub fn to_json(document: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    encode_json(&to_value(document)?, &mut out);
    Ok(out)
}
