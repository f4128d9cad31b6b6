//! Strategic merge patch: lists of objects merge by key, and directives in the patch say what JSON cannot
//! (`k8s.io/apimachinery/pkg/util/strategicpatch`).
//!
//! What a field does is said by its descriptor: [`machinery::def::PatchStrategy`] and the merge key.

mod error;
mod list;
mod lookup;
mod map;
mod order;

use machinery::def::StructDef;
use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::json::Issues;
use machinery::status::{GroupResource, Status};
use serde_json::Value;

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
/// The result may not decode (`{"spec": []}`): answer that with [`undecodable`].
pub fn strategic_merge(
    def: &'static StructDef,
    document: &Value,
    patch: &[u8],
    issues: &mut Issues,
) -> Result<Value, Status> {
    let patch = document::read(patch, issues, "map[string]interface {}", Value::is_object)
        .map_err(|why| Status::bad_request(why))?;
    let (Value::Object(original), Value::Object(patch)) = (document.clone(), patch) else {
        return Ok(document.clone());
    };
    let merged = map::merge(original, patch, lookup::Lookup::Struct(def))?;
    Ok(Value::Object(merged))
}

/// The answer when what a strategic merge made cannot be decoded: `why` in the words of upstream's `FromUnstructured`.
pub fn undecodable(patch: &Value, why: &str) -> Status {
    let error = FieldError::invalid(&Path::new("patch"), go_print::plain(patch), why.to_string());
    Status::invalid(GroupResource { group: "", resource: "" }, "", &[error])
}
