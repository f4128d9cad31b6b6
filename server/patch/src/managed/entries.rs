//! Reads and writes `metadata.managedFields`.

use std::collections::BTreeMap;

use machinery::scalar::FieldsV1;
use serde_json::{Map, Value};

use super::FieldManagerContext;
use crate::Error;
use crate::field_set::FieldSet;

/// The identity of a manager; each has one entry (`BuildManagerIdentifier`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ManagerIdentifier {
    pub name: String,
    pub operation: ManagedFieldsOperation,
    /// Empty for appliers, which have one entry for all versions.
    pub api_version: String,
    pub subresource: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ManagedFieldsOperation {
    Apply,
    Update,
}

impl ManagedFieldsOperation {
    fn text(self) -> &'static str {
        match self {
            ManagedFieldsOperation::Apply => "Apply",
            ManagedFieldsOperation::Update => "Update",
        }
    }
}

impl ManagerIdentifier {
    pub(super) fn new(name: &str, operation: ManagedFieldsOperation, context: &FieldManagerContext<'_, '_>) -> Self {
        let name = if name.is_empty() { "unknown" } else { name };
        ManagerIdentifier {
            name: name.into(),
            operation,
            api_version: if operation == ManagedFieldsOperation::Apply {
                String::new()
            } else {
                context.api_version.into()
            },
            subresource: context.subresource.into(),
        }
    }
}

/// The fields that a manager owns.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct VersionedSet {
    pub set: FieldSet,
    /// The version of the field set.
    pub api_version: String,
    pub applied: bool,
    pub time: Option<String>,
}

pub(super) type Managed = BTreeMap<ManagerIdentifier, VersionedSet>;

/// An entry of `metadata.managedFields` of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnerEntry {
    pub manager: String,
    pub operation: String,
    pub api_version: String,
    /// RFC 3339 in seconds and UTC.
    pub time: Option<String>,
    pub fields_type: String,
    pub fields: Option<FieldsV1>,
    pub subresource: String,
}

/// Reads the managed fields of a document.
pub(super) fn read(object: &Value) -> Result<Managed, Error> {
    read_list(object.pointer("/metadata/managedFields").and_then(Value::as_array).map_or(&[], Vec::as_slice))
}

pub(super) fn read_list(entries: &[Value]) -> Result<Managed, Error> {
    let entries = entries.iter().map(|entry| {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default().to_string();
        let owner = OwnerEntry {
            manager: text("manager"),
            operation: text("operation"),
            api_version: text("apiVersion"),
            time: entry.get("time").and_then(Value::as_str).map(str::to_string),
            fields_type: text("fieldsType"),
            fields: None,
            subresource: text("subresource"),
        };
        let set = match entry.get("fieldsV1") {
            None | Some(Value::Null) => Ok(FieldSet::new()),
            Some(fields) => FieldSet::from_value(fields),
        };
        (owner, set)
    });
    read_all(entries)
}

/// Reads the managed fields of an object.
pub(super) fn read_entries(entries: &[OwnerEntry]) -> Result<Managed, Error> {
    read_all(entries.iter().map(|entry| {
        let text = entry.fields.as_ref().map(|fields| fields.as_bytes().as_ref()).filter(|text| !text.is_empty());
        (entry.clone(), text.map_or(Ok(FieldSet::new()), FieldSet::from_json))
    }))
}

fn read_all(entries: impl Iterator<Item = (OwnerEntry, Result<FieldSet, Error>)>) -> Result<Managed, Error> {
    let mut managed = Managed::new();
    for (index, (entry, set)) in entries.enumerate() {
        let (manager, entry) = read_entry(index, entry, set)?;
        managed.insert(manager, entry);
    }
    Ok(managed)
}

fn read_entry(
    index: usize,
    owner: OwnerEntry,
    set: Result<FieldSet, Error>,
) -> Result<(ManagerIdentifier, VersionedSet), Error> {
    let operation = match owner.operation.as_str() {
        "Apply" => ManagedFieldsOperation::Apply,
        "Update" => ManagedFieldsOperation::Update,
        _ => return Err(Error::Operation),
    };
    if owner.api_version.is_empty() {
        return Err(Error::ApiVersion);
    }
    match owner.fields_type.as_str() {
        "FieldsV1" => {}
        "" => return Err(Error::MissingFieldsType(index)),
        _ => return Err(Error::FieldsType(owner.fields_type, index)),
    }
    let applied = operation == ManagedFieldsOperation::Apply;
    let manager = ManagerIdentifier {
        name: owner.manager,
        operation,
        api_version: if applied { String::new() } else { owner.api_version.clone() },
        subresource: owner.subresource,
    };
    let set = set.map_err(|why| Error::Set(Box::new(why)))?;
    Ok((manager, VersionedSet { set, api_version: owner.api_version, applied, time: owner.time }))
}

/// Returns whether the list resets all ownership: it has one empty entry.
pub(super) fn is_reset(entries: &[OwnerEntry]) -> bool {
    matches!(entries, [one] if *one == OwnerEntry::default())
}

/// Writes the managed fields of an object.
pub(super) fn write(object: &mut Value, managed: &Managed) {
    match managed.is_empty() {
        true => clear(object),
        false => put(object, Value::Array(to_list(managed))),
    }
}

pub(super) fn clear(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.shift_remove("managedFields");
    }
}

pub(super) fn put(object: &mut Value, fields: Value) {
    if let Some(object) = object.as_object_mut() {
        let metadata = object.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
        if !metadata.is_object() {
            *metadata = Value::Object(Map::new());
        }
        metadata["managedFields"] = fields;
    }
}

/// Returns the entries in upstream's order: appliers first, then by time, name, version, subresource.
fn sorted(managed: &Managed) -> Vec<(&ManagerIdentifier, &VersionedSet)> {
    let mut entries: Vec<(&ManagerIdentifier, &VersionedSet)> = managed.iter().collect();
    entries.sort_by_key(|(manager, entry)| {
        // All times have one text form in UTC, so their text order is their time order.
        (operation(manager, entry), &entry.time, &manager.name, &entry.api_version, &manager.subresource)
    });
    entries
}

fn operation(manager: &ManagerIdentifier, entry: &VersionedSet) -> ManagedFieldsOperation {
    if entry.applied { ManagedFieldsOperation::Apply } else { manager.operation }
}

/// Returns the entries for a document.
pub(super) fn to_list(managed: &Managed) -> Vec<Value> {
    sorted(managed).into_iter().map(|(manager, entry)| to_value(manager, entry)).collect()
}

/// Returns the entries for an object.
pub(super) fn to_entries(managed: &Managed) -> Vec<OwnerEntry> {
    let entry = |(manager, entry): (&ManagerIdentifier, &VersionedSet)| {
        let mut fields = Vec::new();
        entry.set.append_json(&mut fields);
        OwnerEntry {
            manager: manager.name.clone(),
            operation: operation(manager, entry).text().into(),
            api_version: entry.api_version.clone(),
            time: entry.time.clone(),
            fields_type: "FieldsV1".into(),
            fields: Some(FieldsV1::new(fields.into())),
            subresource: manager.subresource.clone(),
        }
    };
    sorted(managed).into_iter().map(entry).collect()
}

fn to_value(manager: &ManagerIdentifier, entry: &VersionedSet) -> Value {
    let mut out = Map::new();
    let mut put = |name: &str, text: &str| {
        if !text.is_empty() {
            out.insert(name.into(), text.into());
        }
    };
    put("manager", &manager.name);
    put("operation", operation(manager, entry).text());
    put("apiVersion", &entry.api_version);
    put("time", entry.time.as_deref().unwrap_or_default());
    put("fieldsType", "FieldsV1");
    out.insert("fieldsV1".into(), entry.set.to_value());
    if !manager.subresource.is_empty() {
        out.insert("subresource".into(), manager.subresource.as_str().into());
    }
    Value::Object(out)
}
