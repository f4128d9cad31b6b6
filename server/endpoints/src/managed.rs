//! Field management: who set which field, kept in `metadata.managedFields` (KEP-555).

use apimachinery::meta::v1::{ManagedFieldsEntry, ObjectMeta};
use machinery::catalog::parse_api_version;
use machinery::json;
use machinery::reflect::{Mut, Owned, Ref};
use machinery::scalar::Time;
use machinery::status::Status;
use patch::FieldSet;
use patch::field_set::Filter;
use patch::managed::{self, Context};
use patch::schema::Type;
use registry::meta_mut;
use serde_json::{Map, Value};

use crate::answer;
use crate::endpoint::Endpoint;

/// Who writes.
pub struct Manager<'a> {
    pub name: &'a str,
    pub subresource: &'a str,
}

/// The manager's name: what the client says, else the beginning of its User-Agent (`managerOrUserAgent`).
pub fn manager_name(field_manager: &str, user_agent: &str) -> String {
    if !field_manager.is_empty() {
        return field_manager.to_string();
    }
    let prefix = user_agent.split('/').next().unwrap_or("");
    prefix.chars().filter(|c| !c.is_control()).take(128).collect()
}

/// Records what a create, update or patch changed. Both objects are in hub form.
pub fn on_update(
    endpoint: &Endpoint,
    live: Option<&Owned>,
    mut new: Owned,
    manager: &Manager<'_>,
) -> Result<Owned, Status> {
    if meta_mut(&mut new).is_none() {
        return Ok(new);
    }
    let live = live.map(|live| document(endpoint, live));
    let mut changed = document(endpoint, &new);
    with_context(endpoint, manager, |context| managed::on_update(context, live.as_ref(), &mut changed));
    put_entries(&mut new, &changed)?;
    Ok(new)
}

/// Merges an applied configuration into the stored object; the document is still to be decoded.
pub fn apply(
    endpoint: &Endpoint,
    live: Option<&Owned>,
    config: &Value,
    manager: &Manager<'_>,
    force: bool,
) -> Result<Value, Status> {
    let live = live.map(|live| document(endpoint, live));
    let applied = with_context(endpoint, manager, |context| managed::apply(context, live.as_ref(), config, force))?;
    Ok(applied.object)
}

/// After admission: a write that changes nothing but times of ownership is no write.
pub fn keep_times(endpoint: &Endpoint, live: &Owned, new: &mut Owned) -> Result<(), Status> {
    if meta_mut(new).is_none() {
        return Ok(());
    }
    let mut changed = document(endpoint, new);
    managed::keep_times(&document(endpoint, live), &mut changed);
    put_entries(new, &changed)
}

/// A hub object as a document in the endpoint's version.
pub fn document(endpoint: &Endpoint, hub: &Owned) -> Value {
    let versioned = answer::in_version(endpoint.kind, hub.clone());
    let mut document = json::to_value(versioned.as_ref());
    say_kind(&mut document, &endpoint.kind.api_version(), endpoint.kind.kind);
    document
}

/// Puts `kind` and `apiVersion` first.
pub fn say_kind(document: &mut Value, api_version: &str, kind: &str) {
    if let Value::Object(fields) = document {
        fields.shift_insert(0, "kind".into(), kind.into());
        fields.shift_insert(1, "apiVersion".into(), api_version.into());
    }
}

fn with_context<R>(endpoint: &Endpoint, manager: &Manager<'_>, f: impl FnOnce(&Context<'_, 'static>) -> R) -> R {
    let api_version = endpoint.kind.api_version();
    let now = Time::from(std::time::SystemTime::now()).to_string();
    let filter = filter(endpoint, manager.subresource);
    let convert = |value: &Value, version: &str| convert(endpoint, value, version);
    f(&Context {
        manager: manager.name,
        api_version: &api_version,
        kind: endpoint.kind.kind,
        subresource: manager.subresource,
        now: &now,
        schema: Type::Struct(endpoint.kind.def),
        filter: &filter,
        convert: &convert,
    })
}

/// Fields that writes through this endpoint cannot own, because the strategy resets them (`GetResetFields`).
fn filter(endpoint: &Endpoint, subresource: &str) -> Filter {
    let subresources = endpoint.resource.subresources;
    let resets = match subresources.iter().find(|s| s.name == subresource) {
        Some(found) => found.resets,
        None if subresource.is_empty() => endpoint.resource.resets,
        None => &[],
    };
    let paths: Vec<Vec<&str>> = resets.iter().map(|path| path.split('.').collect()).collect();
    Filter::Exclude(FieldSet::of_names(paths.iter().map(Vec::as_slice)))
}

/// A document in another version of the kind.
fn convert(endpoint: &Endpoint, value: &Value, version: &str) -> Option<(Type<'static>, Value)> {
    let kind_of = |api_version: &str| {
        let (group, version) = parse_api_version(api_version);
        // Another group's managers are forgotten, also where both groups show the same objects (events).
        (group == endpoint.kind.group).then(|| endpoint.catalog.kind(group, version, endpoint.kind.kind)).flatten()
    };
    let (from, to) = (kind_of(value.get("apiVersion")?.as_str()?)?, kind_of(version)?);
    let mut object = Owned::new(from.def);
    json::from_value(value, object.as_mut(), &mut json::Issues::ignore()).ok()?;
    let converted = to.from_hub(from.to_hub(object));
    let mut document = json::to_value(converted.as_ref());
    say_kind(&mut document, version, endpoint.kind.kind);
    Some((Type::Struct(to.def), document))
}

/// Takes the entries of a document into an object.
fn put_entries(object: &mut Owned, document: &Value) -> Result<(), Status> {
    let entries = document.pointer("/metadata/managedFields").cloned().unwrap_or(Value::Null);
    set_entries(object, entries)
}

/// Who owns what of an object, as a document.
pub fn entries(object: &Owned) -> Value {
    let fields = registry::meta(object.as_ref()).map(|meta| meta.managed_fields.as_slice()).unwrap_or_default();
    fields.iter().map(|entry| json::to_value(Ref::of(entry))).collect()
}

/// Makes entries of a document those of an object.
pub fn set_entries(object: &mut Owned, entries: Value) -> Result<(), Status> {
    let entries = decode_entries(entries).map_err(Status::internal)?;
    if let Some(meta) = meta_mut(object) {
        meta.managed_fields = entries;
    }
    Ok(())
}

fn decode_entries(entries: Value) -> Result<Vec<ManagedFieldsEntry>, json::Error> {
    let mut fields = Map::new();
    fields.insert("managedFields".into(), entries);
    let mut meta = ObjectMeta::default();
    json::from_value(&Value::Object(fields), Mut::of(&mut meta), &mut json::Issues::ignore())?;
    Ok(meta.managed_fields)
}
