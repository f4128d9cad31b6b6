//! Access to `metadata` of any object.

use apimachinery::meta::v1::ObjectMeta;
use machinery::reflect::{Owned, Ref, Slot, Value};
use machinery::status::Status;

/// Returns the object's metadata; `None` for kinds without.
pub fn meta(object: Ref<'_>) -> Option<&ObjectMeta> {
    match object.by_name("metadata")? {
        Value::Struct(metadata) => metadata.downcast::<ObjectMeta>(),
        _ => None,
    }
}

/// Returns the object's metadata for changes; `None` for kinds without.
pub fn meta_mut(object: &mut Owned) -> Option<&mut ObjectMeta> {
    let def = object.def();
    let index = def.fields.iter().position(|f| f.json == "metadata")?;
    match object.as_mut().into_slot(index) {
        Slot::Struct(metadata) => metadata.downcast::<ObjectMeta>(),
        _ => None,
    }
}

/// Common properties of metadata.
pub trait MetaExt {
    /// Returns whether deletion was requested.
    fn is_deleting(&self) -> bool;
    /// Returns the revision of the resourceVersion; `None` when it is empty or not a number.
    fn revision(&self) -> Option<u64>;
}

impl MetaExt for ObjectMeta {
    fn is_deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    fn revision(&self) -> Option<u64> {
        let text = self.resource_version.as_str();
        // Rust accepts a sign, Go's `ParseUint` does not.
        text.parse().ok().filter(|&revision| revision != 0 && text.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

/// Sets the namespace of an object to that of its request.
///
/// The object may omit it, but not have another one. Without an expected namespace, as for
/// cluster-scoped resources, it is cleared (`rest.EnsureObjectNamespaceMatchesRequestNamespace`).
///
/// # Errors
/// 400 when the object has another namespace.
///
/// # Examples
/// ```
/// use apimachinery::meta::v1::ObjectMeta;
///
/// let mut meta = ObjectMeta::default();
/// assert!(registry::ensure_namespace(&mut meta, "default").is_ok());
/// assert_eq!(meta.namespace, "default");
/// assert_eq!(registry::ensure_namespace(&mut meta, "other").map_err(|status| status.code), Err(400));
/// ```
pub fn ensure_namespace(meta: &mut ObjectMeta, expected: &str) -> Result<(), Status> {
    if meta.namespace.is_empty() || expected.is_empty() {
        meta.namespace = expected.to_string();
    }
    if meta.namespace == expected {
        return Ok(());
    }
    Err(Status::bad_request("the namespace of the provided object does not match the namespace sent on the request"))
}
