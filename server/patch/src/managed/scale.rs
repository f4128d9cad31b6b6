//! Ownership of replicas, mapped between an object and its `scale` subresource (`managedfields.ScaleHandler`).

use serde_json::Value;

use super::entries::{self, Managed, VersionedSet};
use crate::field_set::{FieldPath, FieldSet, PathElement};

/// The path of the replicas in a version of the object, if it has one.
pub struct ReplicasPath<'a> {
    pub api_version: &'a str,
    pub replicas: Option<&'a [&'a str]>,
}

const SCALE_VERSION: &str = "autoscaling/v1";

fn path(names: &[&str]) -> FieldPath {
    names.iter().map(|name| PathElement::field(name)).collect()
}

fn only(path: &[PathElement]) -> FieldSet {
    let mut set = FieldSet::new();
    set.insert(path);
    set
}

fn in_scale() -> FieldPath {
    path(&["spec", "replicas"])
}

/// Returns the path of the replicas in a version; `None` for an unknown version.
fn find(mappings: &[ReplicasPath<'_>], version: &str) -> Option<Option<FieldPath>> {
    mappings.iter().find(|mapping| mapping.api_version == version).map(|mapping| mapping.replicas.map(path))
}

fn read(entries: &Value) -> Option<Managed> {
    entries::read_list(entries.as_array().map_or(&[], Vec::as_slice)).ok()
}

fn write(managed: &Managed) -> Value {
    if managed.is_empty() { Value::Null } else { Value::Array(entries::to_list(managed)) }
}

/// Returns the managed fields of a Scale: the owners of its object's replicas. `parent` has those of
/// the object; `None` if they are unreadable.
pub fn to_scale(parent: &Value, mappings: &[ReplicasPath<'_>]) -> Option<Value> {
    let mut managed = read(parent)?;
    managed.retain(|_, entry| {
        find(mappings, &entry.api_version).flatten().is_some_and(|replicas| entry.set.has(&replicas))
    });
    for entry in managed.values_mut() {
        entry.set = only(&in_scale());
        entry.api_version = SCALE_VERSION.into();
    }
    Some(write(&managed))
}

/// Returns the managed fields of the object after a change of its Scale's. `api_version` is the version
/// of new owners. Returns `None` if either list is unreadable.
pub fn scale_to_parent(
    parent: &Value,
    scale: &Value,
    api_version: &str,
    mappings: &[ReplicasPath<'_>],
) -> Option<Value> {
    let parent = read(parent)?;
    let mut scale = read(scale)?;
    let times = parent.iter().map(|(manager, entry)| (manager.clone(), entry.time.clone()));
    let times: std::collections::BTreeMap<_, _> = times.collect();
    let mut managed = Managed::new();
    for (manager, mut entry) in parent {
        let Some(replicas) = find(mappings, &entry.api_version) else { continue };
        if let Some(replicas) = replicas.filter(|replicas| entry.set.has(replicas))
            && scale.remove(&manager).is_none()
        {
            entry.set = entry.set.difference(&only(&replicas));
            if entry.set.is_empty() {
                continue;
            }
        }
        managed.insert(manager, entry);
    }
    let replicas = find(mappings, api_version).flatten()?;
    for (manager, entry) in scale {
        if entry.set.has(&in_scale()) {
            // As in upstream, a new owner has no time, because it is looked up among the object's
            // previous owners.
            let time = times.get(&manager).cloned().flatten();
            let entry = VersionedSet { set: only(&replicas), api_version: api_version.into(), time, ..entry };
            managed.insert(manager, entry);
        }
    }
    Some(write(&managed))
}
