//! Strategic merge patch: lists of objects merge by key, and directives in the patch say what JSON cannot
//! (`k8s.io/apimachinery/pkg/util/strategicpatch`).
//!
//! What a field does is said by its descriptor: [`machinery::def::PatchStrategy`] and the merge key.

mod error;
mod list;
mod lookup;
mod map;
mod order;
mod places;
mod spent;

use machinery::def::StructDef;
use machinery::json::Issues;
use machinery::status::Status;
use serde_json::Value;

use self::lookup::Lookup;
use crate::{document, go_print};

/// `$patch`: what to do with the object it stands in.
const PATCH: &str = "$patch";
/// `$retainKeys`: which members of the object are to stay.
const RETAIN_KEYS: &str = "$retainKeys";
/// `$setElementOrder/<field>`: the order of a list's items.
const SET_ELEMENT_ORDER: &str = "$setElementOrder";
/// `$deleteFromPrimitiveList/<field>`: scalars to drop from a list.
const DELETE_FROM_PRIMITIVE_LIST: &str = "$deleteFromPrimitiveList";

/// Applies a strategic merge patch to a document of the described type; `issues` gets duplicate fields of the patch.
///
/// What comes out may not decode: answer that with [`undecodable`].
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
    Ok(Value::Object(map::merge(original.clone(), members.clone(), Lookup::Struct(def))?))
}

/// The answer when what a strategic merge patch made of a document cannot be decoded.
pub fn undecodable(def: &'static StructDef, document: &Value, patch: &[u8], why: &str) -> Status {
    let mut patch = match read(patch, &mut Issues::ignore()) {
        Ok(patch) => patch,
        Err(status) => return status,
    };
    if let (Value::Object(original), Value::Object(patch)) = (document, &mut patch) {
        spent::spend(original, patch, Lookup::Struct(def));
    }
    document::refuse(go_print::plain(&patch), why)
}

fn read(patch: &[u8], issues: &mut Issues) -> Result<Value, Status> {
    document::read(patch, issues, "map[string]interface {}", Value::is_object, Status::bad_request)
}
