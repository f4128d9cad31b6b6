//! Field ownership: `metadata.managedFields` on create, update and patch, and server-side apply
//! (KEP-555; upstream's `apimachinery/pkg/util/managedfields` over structured-merge-diff's `merge`).
//!
//! Handlers call:
//!
//! - [`on_update`] before admission, for all writes but apply: it makes the manager of the request own its changes;
//! - [`apply`] for an apply patch: it merges, or returns conflicts; the caller decodes and defaults the result.
//!
//! Callers default objects and convert them to the hub form and back first. Upstream records ownership
//! of the object to be stored, so `stringData` is `data` by then.

mod cap;
mod conflict;
mod context;
mod entries;
mod failure;
mod last_applied;
mod scale;
mod updater;

use std::convert::Infallible;
use std::sync::OnceLock;

use machinery::catalog::parse_api_version;
use machinery::json;
use machinery::reflect::Owned;
use machinery::status::Status;
use serde_json::{Map, Value};

use crate::field_set::FieldSet;
use crate::schema::SchemaType;
use crate::typed::{self, Comparison, Duplicates};
pub use entries::OwnerEntry;
use entries::{Managed, ManagedFieldsOperation, ManagerIdentifier, VersionedSet};
use updater::Updater;

pub use context::{Converter, FieldManagerContext, Schemas};
use failure::ApplyFailure;
pub use scale::{ReplicasPath, scale_to_parent, to_scale};

/// The result of an apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The merged object with its `managedFields`, not defaulted.
    pub object: Value,
    /// Whether anything but ownership changed.
    pub changed: bool,
}

/// A create, update or patch, as far as ownership depends on it.
pub struct Update<'a, 's> {
    /// The stored object's owners; `None` for a create.
    pub live: Option<&'a [OwnerEntry]>,
    /// The owners in the new object.
    pub new: &'a [OwnerEntry],
    pub versions: &'a dyn ObjectVersions<'s>,
}

/// The stored and the new object in the versions of their kind; `None` for an unknown version.
pub trait ObjectVersions<'s> {
    fn schema(&self, api_version: &str) -> Option<SchemaType<'s>>;

    /// Returns the changes from the stored object to the new one, as [`typed::compare`] does.
    fn compare(&self, api_version: &str) -> Option<Comparison>;
}

/// Computes the owners of an object after a create, update or patch: only the manager of the request
/// owns the fields that it changes (`FieldManager.Update`).
///
/// The owners in the new object count only where the request may set them. They replace the stored
/// ones; a list of one empty entry resets them, and unreadable ones are ignored.
pub fn on_update<'s>(context: &FieldManagerContext<'_, 's>, update: &Update<'_, 's>) -> Vec<OwnerEntry> {
    let managed = of_live_or_new(context, update);
    // An update does not add ownership to an object without owners.
    if managed.is_empty() && update.live.is_some() {
        return Vec::new();
    }
    let versions = update.versions;
    let compared = |version: &str| Some(versions.compare(version)?.filtered(context.filter));
    let schema = |version: &str| versions.schema(version);
    let Ok::<_, Infallible>(managed) =
        Updater { context }.update(&schema, &mut |version| Ok(compared(version)), managed);
    entries::to_entries(&with_requester(context, managed, context.manager))
}

fn of_live_or_new(context: &FieldManagerContext<'_, '_>, update: &Update<'_, '_>) -> Managed {
    let of_live = || update.live.and_then(|live| entries::read_entries(live).ok()).unwrap_or_default();
    if !context.subresource.is_empty() {
        return of_live();
    }
    if entries::is_reset(update.new) {
        return Managed::default();
    }
    match entries::read_entries(update.new) {
        Ok(managed) if !managed.is_empty() => managed,
        _ => of_live(),
    }
}

/// Adds the changed fields to the entry of the manager.
fn with_requester(
    context: &FieldManagerContext<'_, '_>,
    (mut managed, set): (Managed, FieldSet),
    manager: &str,
) -> Managed {
    let set = set.difference(unowned());
    if !set.is_empty() {
        let manager = ManagerIdentifier::new(manager, ManagedFieldsOperation::Update, context);
        let set = match managed.remove(&manager) {
            Some(previous) => set.union(previous.set),
            None => set,
        };
        let entry = VersionedSet {
            set,
            api_version: context.api_version.into(),
            applied: false,
            time: Some(context.now.into()),
        };
        managed.insert(manager, entry);
    }
    cap::cap(managed)
}

/// Applies a configuration (`FieldManager.Apply`). Merges it into the live object, removes fields that
/// its manager no longer applies, and makes the manager own the fields that it sets. A change of a
/// field that another manager owns is a conflict, unless `force` is set.
pub fn apply(
    context: &FieldManagerContext<'_, '_>,
    live: Option<&Value>,
    config: &Value,
    force: bool,
) -> Result<Applied, Status> {
    check_kind(context, config)?;
    let nothing = nothing(context);
    let live = live.unwrap_or(&nothing);
    let managed =
        entries::read(live).map_err(|why| Status::new(500, "", format!("failed to decode managed fields: {why}")))?;
    let mut applied = match apply_over(context, live, config, managed.clone(), force) {
        Err(ApplyFailure::Conflicts(conflicts)) if context.manager == "kubectl" => {
            let conflicts = last_applied::without_allowed(context, live, conflicts);
            if !conflicts.is_empty() {
                return Err(conflict::status(&conflicts));
            }
            apply_over(context, live, config, managed, true)?
        }
        other => other?,
    };
    if context.manager == "kubectl" {
        applied.changed |= last_applied::refresh(&mut applied.object, config);
    }
    Ok(applied)
}

impl From<ApplyFailure> for Status {
    fn from(failure: ApplyFailure) -> Status {
        match failure {
            ApplyFailure::Conflicts(conflicts) => conflict::status(&conflicts),
            ApplyFailure::Status(status) => status,
        }
    }
}

fn apply_over(
    context: &FieldManagerContext<'_, '_>,
    live: &Value,
    config: &Value,
    mut managed: Managed,
    force: bool,
) -> Result<Applied, ApplyFailure> {
    // Fields that exist before the first apply get an owner, so that an apply that changes them is a conflict.
    if managed.is_empty() {
        check_live(context, live)?;
        let owned = Updater { context }.update_documents(&nothing(context), live, managed)?;
        managed = with_requester(context, owned, "before-first-apply");
    }
    if config.pointer("/metadata/managedFields").is_some_and(is_owners) {
        return Err(ApplyFailure::Status(Status::bad_request("metadata.managedFields must be nil")));
    }
    typed::validate(context.schema, config, Duplicates::Refused).map_err(|errors| {
        let target = describe(context, config);
        ApplyFailure::Status(Status::new(500, "", format!("failed to create typed patch object ({target}): {errors}")))
    })?;
    let manager = ManagerIdentifier::new(context.manager, ManagedFieldsOperation::Apply, context);
    let updater = Updater { context };
    let (mut managed, merged) = updater.apply(live, config, managed, &manager, force)?;
    if let Some(entry) = managed.remove(&manager) {
        let set = entry.set.difference(unowned());
        if !set.is_empty() {
            let time = if merged.is_some() { Some(context.now.into()) } else { entry.time };
            managed.insert(manager, VersionedSet { set, time, ..entry });
        }
    }
    let changed = merged.is_some();
    let mut object = merged.unwrap_or_else(|| live.clone());
    entries::write(&mut object, &managed);
    Ok(Applied { object, changed })
}

/// Refuses a stored object without owners that does not match its schema, because its fields cannot get owners.
fn check_live(context: &FieldManagerContext<'_, '_>, live: &Value) -> Result<(), Status> {
    match typed::validate(context.schema, live, Duplicates::Allowed) {
        Err(errors) if !typed::content_has_types(context.schema, live) => {
            let target = describe(context, live);
            let why = format!("failed to convert new object ({target}) to smd typed: {errors}");
            Err(Status::new(500, "", format!("failed to create manager for existing fields: {why}")))
        }
        _ => Ok(()),
    }
}

/// Returns whether a value is a list of managed fields; other values are left to the schema
/// (`Unstructured.GetManagedFields`).
fn is_owners(value: &Value) -> bool {
    match value {
        Value::Array(entries) => entries.iter().all(Value::is_object),
        _ => false,
    }
}

fn check_kind(context: &FieldManagerContext<'_, '_>, config: &Value) -> Result<(), Status> {
    let text = |name: &str| config.get(name).and_then(Value::as_str).unwrap_or_default();
    let version = parse_api_version(text("apiVersion"));
    if version == parse_api_version(context.api_version) && text("kind") == context.kind {
        return Ok(());
    }
    let kind = group_version_kind(text("apiVersion"), text("kind"));
    Err(Status::bad_request(format!("invalid object type: {kind}")))
}

/// Formats `ns/name; apps/v1, Kind=Deployment`.
fn describe(context: &FieldManagerContext<'_, '_>, object: &Value) -> String {
    let (namespace, name) = (text_at(object, "namespace"), text_at(object, "name"));
    format!("{namespace}/{name}; {}", group_version_kind(context.api_version, context.kind))
}

fn group_version_kind(api_version: &str, kind: &str) -> String {
    if api_version.matches('/').count() > 1 {
        // Not a group version, so the kind is unknown (`Unstructured.GroupVersionKind`).
        return "/, Kind=".into();
    }
    // The core group has an empty name.
    let slash = if api_version.contains('/') { "" } else { "/" };
    format!("{slash}{api_version}, Kind={kind}")
}

/// Returns the object before a create: a new struct with zero values, which no client set.
fn nothing(context: &FieldManagerContext<'_, '_>) -> Value {
    match context.schema {
        SchemaType::Struct(def) if !context.zeros_have_owners => json::to_value(Owned::new(def).as_ref()),
        _ => Value::Object(Map::new()),
    }
}

fn text_at<'v>(object: &'v Value, name: &str) -> &'v str {
    object.get("metadata").and_then(|metadata| metadata.get(name)).and_then(Value::as_str).unwrap_or_default()
}

/// Fields without an owner (`stripMetaManager`): identity, and fields that the server sets.
fn unowned() -> &'static FieldSet {
    static SET: OnceLock<FieldSet> = OnceLock::new();
    SET.get_or_init(|| {
        let paths: [&[&str]; 12] = [
            &["apiVersion"],
            &["kind"],
            &["metadata"],
            &["metadata", "name"],
            &["metadata", "namespace"],
            &["metadata", "creationTimestamp"],
            &["metadata", "selfLink"],
            &["metadata", "uid"],
            &["metadata", "clusterName"],
            &["metadata", "generation"],
            &["metadata", "managedFields"],
            &["metadata", "resourceVersion"],
        ];
        FieldSet::of_names(paths)
    })
}
