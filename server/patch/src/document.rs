//! Reading patches, in the words of Go's decoder.

use machinery::json::{self, Issues};
use machinery::status::Status;
use serde_json::Value;

/// Parses a patch that Go decodes into `go_type`; `wanted` says whether the document has that type.
pub(crate) fn read(
    patch: &[u8],
    issues: &mut Issues,
    go_type: &str,
    wanted: fn(&Value) -> bool,
) -> Result<Value, String> {
    // An empty body is no document at all; Go says so in other words than a parser would.
    if patch.iter().all(u8::is_ascii_whitespace) {
        return Err("unexpected end of JSON input".into());
    }
    let document = json::parse(patch, issues).map_err(|e| e.to_string())?;
    if document.is_null() || wanted(&document) {
        return Ok(document);
    }
    Err(format!("json: cannot unmarshal {} into Go value of type {go_type}", found(&document)))
}

/// What a JSON value is called in errors of Go's decoder.
pub(crate) fn found(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// `NewGenericServerResponse` of 422: the patch is well formed but cannot be applied.
pub(crate) fn inapplicable() -> Status {
    let mut status = Status::new(422, "Invalid", "the server rejected our request due to an error in our request");
    status.details = Some(Box::default());
    status
}
