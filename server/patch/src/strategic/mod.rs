//! Strategic merge patch: lists of objects merge by key, and the patch may contain directives
//! (`k8s.io/apimachinery/pkg/util/strategicpatch`).
//!
//! The descriptor of a field determines its behaviour: [`machinery::def::PatchStrategy`] and the merge key.

mod directives;
mod list;
mod lookup;
mod map;
mod order;
mod places;
mod remaining;

use machinery::def::StructDef;
use machinery::json::Issues;
use machinery::status::Status;
use serde_json::Value;

use self::lookup::GoType;
use crate::{Error, document, go_print};

/// Applies a strategic merge patch to a document of the described type; `issues` gets duplicate fields
/// of the patch.
///
/// The result may not decode; [`undecodable`] is the error for that.
pub fn strategic_merge(
    def: &'static StructDef,
    document: &Value,
    patch: &[u8],
    issues: &mut Issues,
) -> Result<Value, Status> {
    let patch = read(patch, issues)?;
    let (Value::Object(original), Value::Object(members)) = (document, &patch) else {
        return Ok(document.clone());
    };
    let merged = map::merge(original.clone(), members.clone(), GoType::Struct(def)).map_err(refusal)?;
    Ok(Value::Object(merged))
}

/// The response to a patch that does not apply (`interpretStrategicMergePatchError`).
fn refusal(error: Error) -> Status {
    match error {
        Error::Directive(_) => Status::bad_request(error.to_string()),
        Error::ListOfLists => document::inapplicable(),
        other => Status::new(500, "", other.to_string()),
    }
}

/// Returns the error when the result of a strategic merge patch cannot be decoded.
pub fn undecodable(def: &'static StructDef, document: &Value, patch: &[u8], why: &str) -> Status {
    let mut patch = match read(patch, &mut Issues::ignore()) {
        Ok(patch) => patch,
        Err(status) => return status,
    };
    if let (Value::Object(original), Value::Object(patch)) = (document, &mut patch) {
        remaining::strip_directives(original, patch, GoType::Struct(def));
    }
    document::refuse(go_print::plain(&patch), why)
}

fn read(patch: &[u8], issues: &mut Issues) -> Result<Value, Status> {
    document::read(patch, issues, "map[string]interface {}", Value::is_object, Status::bad_request)
}
