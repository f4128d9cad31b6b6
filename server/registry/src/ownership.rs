//! Updates that change only times of field ownership (`fieldmanager.IgnoreManagedFieldsTimestampsTransformer`).

use apimachinery::meta::v1::ManagedFieldsEntry;
use machinery::json;
use machinery::reflect::{Owned, Ref};
use machinery::scalar::FieldsV1;
use serde_json::Value;

use crate::metadata::{meta, meta_mut};

/// Keeps the stored times of field ownership if an object differs only in them.
///
/// The update then writes nothing (`IgnoreManagedFieldsTimestampsTransformer`).
pub fn keep_times(stored: &Owned, new: &mut Owned) {
    let (Some(before), Some(after)) = (meta(stored.as_ref()), meta(new.as_ref())) else { return };
    let (old_owners, new_owners) = (&before.managed_fields, &after.managed_fields);
    if old_owners.len() != new_owners.len() || old_owners.iter().map(|o| o.time).eq(new_owners.iter().map(|o| o.time)) {
        return;
    }
    // An update without a version, or with version 0, gets the version of the stored object.
    let names_version = !matches!(after.resource_version.as_str(), "" | "0");
    let ignored: &[&str] = if names_version { &["managedFields"] } else { &["managedFields", "resourceVersion"] };
    let is_same = old_owners.iter().zip(new_owners).all(|(old, new)| is_same_but_time(old, new))
        && json::is_same_but(Ref::of(before), Ref::of(after), ignored)
        && json::is_same_but(stored.as_ref(), new.as_ref(), &["apiVersion", "kind", "metadata"]);
    let kept = is_same.then(|| old_owners.clone());
    if let (Some(kept), Some(meta)) = (kept, meta_mut(new)) {
        meta.managed_fields = kept;
    }
}

fn is_same_but_time(old: &ManagedFieldsEntry, new: &ManagedFieldsEntry) -> bool {
    let texts: [fn(&ManagedFieldsEntry) -> &str; 5] =
        [|e| &e.manager, |e| &e.operation, |e| &e.api_version, |e| &e.fields_type, |e| &e.subresource];
    texts.iter().all(|text| text(old) == text(new)) && is_same_set(old.fields_v1.as_ref(), new.fields_v1.as_ref())
}

/// Compares two field sets; clients may format the JSON text of a set differently.
fn is_same_set(old: Option<&FieldsV1>, new: Option<&FieldsV1>) -> bool {
    let tree = |set: Option<&FieldsV1>| set.and_then(|set| serde_json::from_slice::<Value>(set.as_bytes()).ok());
    old == new || tree(old) == tree(new)
}
