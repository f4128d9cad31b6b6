//! Access to `metadata` of any object.

use apimachinery::meta::v1::ObjectMeta;
use machinery::reflect::{Owned, Ref, Slot, Value};

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
        self.resource_version.parse().ok().filter(|&r| r != 0)
    }
}
