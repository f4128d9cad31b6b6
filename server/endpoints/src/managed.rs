//! Field management: the managers of each field, kept in `metadata.managedFields` (KEP-555).

use std::borrow::Cow;

use apimachinery::meta::v1::{ManagedFieldsEntry, ObjectMeta};
use machinery::catalog::{KindDef, parse_api_version};
use machinery::json;
use machinery::print::at_path;
use machinery::reflect::{self, Mut, Owned, Ref};
use machinery::status::Status;
use patch::FieldSet;
use patch::field_set::Filter;
use patch::managed::{self, Applied, FieldManagerContext, ObjectVersions, OwnerEntry, Update};
use patch::schema::SchemaType;
use patch::typed::{self, Comparison, compare};
use registry::{meta, meta_mut};
use serde_json::{Map, Value};

use crate::endpoint::Endpoint;
use crate::open::OpenKind;
use crate::{empty, response};

/// The field manager of a write.
pub struct Manager<'a> {
    pub name: &'a str,
    pub subresource: &'a str,
    /// Paths of lists that are empty in the request.
    pub empty: &'a [empty::ListPath],
}

/// The manager's name: `fieldManager`, or else the start of the User-Agent (`managerOrUserAgent`).
pub fn manager_name(field_manager: &str, user_agent: &str) -> String {
    if !field_manager.is_empty() {
        return field_manager.to_string();
    }
    let prefix = user_agent.split('/').next().unwrap_or("");
    prefix.chars().filter(|c| !c.is_control()).take(128).collect()
}

/// Updates the owners of fields that a create, update or patch changed. Both objects are in hub
/// form.
pub fn on_update(endpoint: &Endpoint, live: Option<&Owned>, mut new: Owned, manager: &Manager<'_>) -> Owned {
    let Some(sent) = meta(new.as_ref()) else { return new };
    let sent = match owners(sent) {
        // Has the same effect as a list with one empty entry.
        none if none.is_empty() && manager.empty.iter().any(|path| path == &empty::OWNERS) => {
            vec![OwnerEntry::default()]
        }
        sent => sent,
    };
    let stored = live.and_then(|live| meta(live.as_ref())).map(owners);
    let versions = InVersions { endpoint, live, new: &new, empty: manager.empty };
    if !versions.have_types() {
        // Upstream also clears the managers in this case (`FieldManager.UpdateNoErrors`).
        if let Some(meta) = meta_mut(&mut new) {
            meta.managed_fields.clear();
        }
        return new;
    }
    let owners = with_context(endpoint, manager, |context| {
        managed::on_update(context, &Update { live: stored.as_deref(), new: &sent, versions: &versions })
    });
    if let Some(meta) = meta_mut(&mut new) {
        meta.managed_fields = owners.into_iter().map(entry).collect();
    }
    new
}

/// The stored object, if any, and the new object, both in hub form.
struct InVersions<'a> {
    endpoint: &'a Endpoint,
    live: Option<&'a Owned>,
    new: &'a Owned,
    /// Paths, in the request's version, of lists that are empty in the request.
    empty: &'a [empty::ListPath],
}

impl InVersions<'_> {
    fn kind(&self, api_version: &str) -> Option<&'static KindDef> {
        let own = self.endpoint.kind;
        let (group, version) = parse_api_version(api_version);
        match group == own.group {
            true if version == own.version => Some(own),
            true => self.endpoint.catalog.kind(group, version, own.kind),
            // Managers of another group are dropped, also where both groups serve the same objects
            // (events).
            false => None,
        }
    }

    /// Converts an object to a version by way of the request's version. The request's version may
    /// store the same data in other fields.
    fn via_request_version<'o>(&self, kind: &'static KindDef, object: &'o Owned) -> Cow<'o, Owned> {
        let own = self.endpoint.kind;
        if std::ptr::eq(kind, own) || own.conversion.is_none() {
            return in_version(kind, object);
        }
        Cow::Owned(kind.from_hub(own.to_hub(own.from_hub(object.clone()))))
    }

    /// Whether the new and the stored object conform to their schema. Objects of declared kinds
    /// have the types of their structs.
    fn have_types(&self) -> bool {
        let Some(open) = &self.endpoint.open else { return self.have_keys() };
        let Some(of) = open.merge_type(&self.endpoint.kind.api_version()) else { return true };
        let have_types = |object: &Owned| typed::content_has_types(of, object.as_ref());
        have_types(self.new) && self.live.is_none_or(have_types)
    }

    fn have_keys(&self) -> bool {
        let kind = self.endpoint.kind;
        let have_keys = |object: &Owned| typed::items_have_keys(in_version(kind, object).as_ref().as_ref());
        !typed::may_miss_keys(kind.def) || (have_keys(self.new) && self.live.is_none_or(have_keys))
    }

    fn compare_open(&self, open: &dyn OpenKind, api_version: &str) -> Option<Comparison> {
        let of = open.merge_type(api_version)?;
        if api_version == self.endpoint.kind.api_version() {
            let zero = Owned::new(self.endpoint.kind.def);
            let live = self.live.unwrap_or(&zero);
            return Some(compare(of, live.as_ref(), self.new.as_ref()));
        }
        let converted = |object: &Owned| open.convert(&document(self.endpoint, object), api_version);
        let live = self.live.map_or_else(|| Ok(empty_object()), converted);
        match live.and_then(|live| Ok((live, converted(self.new)?))) {
            Ok((live, new)) => Some(compare(of, &live, &new)),
            // Owners of fields that cannot be converted keep them.
            Err(status) => {
                tracing::warn!(
                    why = status.message,
                    "cannot convert an object for field management; managers of that version keep their fields"
                );
                Some(Comparison::default())
            }
        }
    }

    /// Compares as if the stored object had no value, and the new one an empty list, at these
    /// paths.
    fn compare_with_empty(
        of: SchemaType<'_>,
        live: Option<Ref<'_>>,
        new: Ref<'_>,
        empty: &[&empty::ListPath],
    ) -> Comparison {
        let mut live = live.map_or_else(empty_object, json::to_value);
        let mut new = json::to_value(new);
        for path in empty {
            put(&mut live, path, Value::Null);
            put(&mut new, path, Value::Array(Vec::new()));
        }
        compare(of, &live, &new)
    }
}

impl<'e> ObjectVersions<'e> for InVersions<'e> {
    fn schema(&self, api_version: &str) -> Option<SchemaType<'e>> {
        match &self.endpoint.open {
            Some(open) => open.merge_type(api_version),
            None => Some(SchemaType::Struct(self.kind(api_version)?.def)),
        }
    }

    fn compare(&self, api_version: &str) -> Option<Comparison> {
        if let Some(open) = &self.endpoint.open {
            return self.compare_open(&**open, api_version);
        }
        let kind = self.kind(api_version)?;
        let live = match self.live {
            Some(live) => Some(self.via_request_version(kind, live)),
            None if zeros_have_owners(self.endpoint) => None,
            // Default values of a new struct are not changes by the client.
            None => Some(Cow::Owned(Owned::new(kind.def))),
        };
        let new = self.via_request_version(kind, self.new);
        // Admission may have filled the list.
        let still_empty = |path: &&empty::ListPath| at_path(new.as_ref().as_ref(), path).is_none_or(is_empty_list);
        let own = if std::ptr::eq(kind, self.endpoint.kind) { self.empty } else { &[] };
        let empty: Vec<&empty::ListPath> = own.iter().filter(still_empty).collect();
        let (of, new) = (SchemaType::Struct(kind.def), new.as_ref().as_ref());
        let live = live.as_ref().map(|live| live.as_ref().as_ref());
        Some(match live {
            _ if !empty.is_empty() => Self::compare_with_empty(of, live, new, &empty),
            Some(live) => compare(of, live, new),
            None => compare(of, &empty_object(), new),
        })
    }
}

/// The document of an object that does not exist yet.
fn empty_object() -> Value {
    Value::Object(Map::new())
}

fn is_empty_list(value: reflect::Value<'_>) -> bool {
    match value {
        reflect::Value::List(items) => items.is_empty(),
        reflect::Value::StructList(items) => items.is_empty(),
        _ => false,
    }
}

/// Sets a value at a path, unless the path has a value.
fn put(tree: &mut Value, path: &[&'static str], value: Value) {
    let [name, below @ ..] = path else {
        if tree.is_null() {
            *tree = value;
        }
        return;
    };
    if tree.is_null() {
        *tree = Value::Object(Map::new());
    }
    if let Value::Object(fields) = tree {
        put(fields.entry(*name).or_insert(Value::Null), below, value);
    }
}

/// Converts a hub object to a version; borrows it if that version is the hub.
fn in_version<'o>(kind: &'static KindDef, hub: &'o Owned) -> Cow<'o, Owned> {
    if kind.conversion.is_none() { Cow::Borrowed(hub) } else { Cow::Owned(response::in_version(kind, hub.clone())) }
}

/// Merges an applied configuration into the stored object. The resulting document is not decoded
/// yet.
pub fn apply(
    endpoint: &Endpoint,
    live: Option<&Owned>,
    config: &Value,
    manager: &Manager<'_>,
    force: bool,
) -> Result<Applied, Status> {
    let live = live.map(|live| document(endpoint, live));
    with_context(endpoint, manager, |context| managed::apply(context, live.as_ref(), config, force))
}

/// Converts a hub object to a document in the endpoint's version.
pub fn document(endpoint: &Endpoint, hub: &Owned) -> Value {
    let versioned = in_version(endpoint.kind, hub);
    let mut document = json::to_value(versioned.as_ref().as_ref());
    set_type_meta(&mut document, &endpoint.kind.api_version(), endpoint.kind.kind);
    document
}

/// Sets `kind` and `apiVersion` as the first fields.
pub fn set_type_meta(document: &mut Value, api_version: &str, kind: &str) {
    if let Value::Object(fields) = document {
        fields.shift_insert(0, "kind".into(), kind.into());
        fields.shift_insert(1, "apiVersion".into(), api_version.into());
    }
}

fn with_context<'e, R>(
    endpoint: &'e Endpoint,
    manager: &Manager<'_>,
    f: impl FnOnce(&FieldManagerContext<'_, 'e>) -> R,
) -> R {
    let api_version = endpoint.kind.api_version();
    let now = endpoint.clock.now().to_string();
    let filter = filter(endpoint, manager.subresource);
    let schemas = |version: &str| schema_of(endpoint, version);
    let convert = |value: &Value, version: &str| convert(endpoint, value, version);
    f(&FieldManagerContext {
        manager: manager.name,
        api_version: &api_version,
        kind: endpoint.kind.kind,
        subresource: manager.subresource,
        now: &now,
        schema: match &endpoint.open {
            Some(open) => open.merge_type(&api_version).unwrap_or(SchemaType::Deduced),
            None => SchemaType::Struct(endpoint.kind.def),
        },
        filter: &filter,
        schemas: &schemas,
        convert: &convert,
        zeros_have_owners: zeros_have_owners(endpoint),
    })
}

/// Whether a client owns fields that it sets to zero. Kinds of Kubernetes cannot distinguish a zero
/// that was sent from an absent field.
fn zeros_have_owners(endpoint: &Endpoint) -> bool {
    !endpoint.resource.tagged_validation
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

/// Returns the merge schema of another version.
fn schema_of<'e>(endpoint: &'e Endpoint, api_version: &str) -> Option<SchemaType<'e>> {
    match &endpoint.open {
        Some(open) => open.merge_type(api_version),
        None => Some(SchemaType::Struct(kind_of(endpoint, api_version)?.def)),
    }
}

/// Returns the kind in another version. Managers of another group are dropped, also where both
/// groups serve the same objects (events).
fn kind_of(endpoint: &Endpoint, api_version: &str) -> Option<&'static KindDef> {
    let (group, version) = parse_api_version(api_version);
    (group == endpoint.kind.group).then(|| endpoint.catalog.kind(group, version, endpoint.kind.kind)).flatten()
}

/// Converts a document to another version of the kind.
fn convert(endpoint: &Endpoint, value: &Value, api_version: &str) -> Result<Value, Status> {
    if let Some(open) = &endpoint.open {
        return open.convert(value, api_version);
    }
    let kind_of = |api_version: &str| {
        kind_of(endpoint, api_version).ok_or_else(|| Status::internal(format!("there is no version {api_version:?}")))
    };
    let (from, to) = (kind_of(value["apiVersion"].as_str().unwrap_or_default())?, kind_of(api_version)?);
    let mut object = Owned::new(from.def);
    json::from_value(value, object.as_mut(), &mut json::Issues::ignore()).map_err(Status::internal)?;
    let converted = to.from_hub(from.to_hub(object));
    let mut document = json::to_value(converted.as_ref());
    set_type_meta(&mut document, api_version, endpoint.kind.kind);
    Ok(document)
}

/// Returns the `managedFields` of an object as a document.
pub fn entries(object: &Owned) -> Value {
    let fields = meta(object.as_ref()).map(|meta| meta.managed_fields.as_slice()).unwrap_or_default();
    fields.iter().map(|entry| json::to_value(Ref::of(entry))).collect()
}

/// Sets the `managedFields` of an object from a document.
pub fn set_entries(object: &mut Owned, entries: Value) -> Result<(), Status> {
    let entries = decode_entries(entries).map_err(Status::internal)?;
    if let Some(meta) = meta_mut(object) {
        meta.managed_fields = entries;
    }
    Ok(())
}

/// Converts the entries of an object's metadata.
fn owners(meta: &ObjectMeta) -> Vec<OwnerEntry> {
    let entry = |entry: &ManagedFieldsEntry| OwnerEntry {
        manager: entry.manager.clone(),
        operation: entry.operation.clone(),
        api_version: entry.api_version.clone(),
        time: entry.time.as_ref().map(ToString::to_string),
        fields_type: entry.fields_type.clone(),
        fields: entry.fields_v1.clone(),
        subresource: entry.subresource.clone(),
    };
    meta.managed_fields.iter().map(entry).collect()
}

fn entry(owner: OwnerEntry) -> ManagedFieldsEntry {
    ManagedFieldsEntry {
        manager: owner.manager,
        operation: owner.operation,
        api_version: owner.api_version,
        time: owner.time.and_then(|time| time.parse().ok()),
        fields_type: owner.fields_type,
        fields_v1: owner.fields,
        subresource: owner.subresource,
    }
}

fn decode_entries(entries: Value) -> Result<Vec<ManagedFieldsEntry>, json::Error> {
    let mut fields = Map::new();
    fields.insert("managedFields".into(), entries);
    let mut meta = ObjectMeta::default();
    let mut text = Vec::new();
    // Field sets keep the order of their elements, which is the stored order.
    json::encode_value_in_order(&Value::Object(fields), &mut text);
    json::decode(&text, Mut::of(&mut meta), &mut json::Issues::ignore())?;
    Ok(meta.managed_fields)
}
