//! Access to `metadata` of any object.

use apimachinery::meta::v1::ObjectMeta;
use machinery::def::FieldDef;
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

/// Whether an update changes only owners and finalizers, which the garbage collector must be able
/// to change (`IsOnlyMutatingGCFields`).
pub fn changes_only_ownership(new: &Owned, old: Option<&Owned>) -> bool {
    let Some(old) = old else { return false };
    let (mut new, Some(from)) = (new.clone(), meta(old.as_ref())) else { return false };
    if let Some(to) = meta_mut(&mut new) {
        to.owner_references.clone_from(&from.owner_references);
        to.finalizers.clone_from(&from.finalizers);
        to.self_link.clone_from(&from.self_link);
        to.managed_fields.clone_from(&from.managed_fields);
    }
    let (new, old) = (new.as_ref(), old.as_ref());
    // The type metadata of a request body is part of the object; a stored object keeps it
    // separately.
    let is_content = |field: &FieldDef| field.shape().struct_def().is_none_or(|def| def.name != "TypeMeta");
    let mut fields = new.def().fields.iter().enumerate().filter(|(_, field)| is_content(field));
    std::ptr::eq(new.def(), old.def()) && fields.all(|(index, _)| new.get(index) == old.get(index))
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
