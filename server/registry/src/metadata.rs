//! Access to `metadata` of any object.

use apimachinery::meta::v1::ObjectMeta;
use machinery::reflect::{Owned, Ref, Slot, Value};
use machinery::status::Status;

/// The object's metadata; kinds without have none.
pub fn meta(object: Ref<'_>) -> Option<&ObjectMeta> {
    match object.by_name("metadata")? {
        Value::Struct(metadata) => metadata.downcast::<ObjectMeta>(),
        _ => None,
    }
}

/// The object's metadata, to write.
pub fn meta_mut(object: &mut Owned) -> Option<&mut ObjectMeta> {
    let def = object.def();
    let index = def.fields.iter().position(|f| f.json == "metadata")?;
    match object.as_mut().into_slot(index) {
        Slot::Struct(metadata) => metadata.downcast::<ObjectMeta>(),
        _ => None,
    }
}

/// Questions that several verbs ask.
pub trait MetaExt {
    /// Whether deletion was asked for.
    fn is_deleting(&self) -> bool;
    /// The revision of its resourceVersion; `None` when empty or not a number.
    fn revision(&self) -> Option<u64>;
}

impl MetaExt for ObjectMeta {
    fn is_deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    fn revision(&self) -> Option<u64> {
        let text = self.resource_version.as_str();
        // Rust reads a sign, Go's `ParseUint` does not.
        text.parse().ok().filter(|&revision| revision != 0 && text.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

/// Gives an object the namespace of its request, which it may leave out but not contradict; without one, as for what is cluster-scoped, it
/// loses its own (`rest.EnsureObjectNamespaceMatchesRequestNamespace`).
pub fn ensure_namespace(meta: &mut ObjectMeta, expected: &str) -> Result<(), Status> {
    if meta.namespace.is_empty() || expected.is_empty() {
        meta.namespace = expected.to_string();
    }
    if meta.namespace == expected {
        return Ok(());
    }
    Err(Status::bad_request("the namespace of the provided object does not match the namespace sent on the request"))
}
