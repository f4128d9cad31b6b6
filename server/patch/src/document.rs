//! Decoding of patches, with the messages of Go's decoder.

use machinery::budget::DecodeError;
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::json::{self, Issues};
use machinery::status::{GroupResource, Status};
use serde_json::Value;

/// Parses a patch that Go decodes into `go_type`; `wanted` checks the type of the document.
///
/// # Errors
/// 413 or 429 when a memory budget is exceeded; otherwise the status that `malformed` creates from the message.
pub(crate) fn read(
    patch: &[u8],
    issues: &mut Issues,
    go_type: &str,
    wanted: fn(&Value) -> bool,
    malformed: impl FnOnce(String) -> Status,
) -> Result<Value, Status> {
    // Go has a message of its own for an empty body.
    if patch.iter().all(u8::is_ascii_whitespace) {
        return Err(malformed("unexpected end of JSON input".into()));
    }
    let document = match json::parse(patch, issues) {
        Ok(document) => document,
        Err(error) => return Err(error.into_status(|error| malformed(error.to_string()))),
    };
    if document.is_null() || wanted(&document) {
        return Ok(document);
    }
    Err(malformed(format!("json: cannot unmarshal {} into Go value of type {go_type}", json_type(&document))))
}

/// Returns the name of a value's type in messages of Go's decoder.
pub(crate) fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns `NewGenericServerResponse` of 422: the patch is well-formed but cannot be applied.
pub(crate) fn inapplicable() -> Status {
    let mut status = Status::new(422, "Invalid", "the server rejected our request due to an error in our request");
    status.details = Some(Box::default());
    status
}

/// Returns the error when the result of a JSON patch or a merge patch cannot be decoded; it contains
/// the whole document.
pub fn undecodable_document(text: &[u8], why: &str) -> Status {
    refuse(String::from_utf8_lossy(text).as_ref(), why)
}

/// Returns 422 for a patch or its result; upstream omits kind and name.
pub(crate) fn refuse(shown: impl Into<BadValue>, why: &str) -> Status {
    let error = FieldError::invalid(&Path::new("patch"), shown, why.to_string());
    Status::invalid(GroupResource { group: "", resource: "" }, "", &[error])
}
