//! Validation of the `metadata` of any object.

use std::collections::BTreeSet;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::{self, Messages, NameRule};
use machinery::hooks::Validation;
use machinery::json;
use machinery::json_name;
use machinery::reflect::Ref;
use machinery::scalar::go_text;

use super::{validate_annotations, validate_labels};
use apimachinery::meta::v1::{ManagedFieldsEntry, ObjectMeta, OwnerReference, managed_fields_operation_type};

const FIELD_IS_IMMUTABLE: &str = "field is immutable";
const KUBERNETES: &str = "kubernetes";
const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";
const MAX_MANAGER: usize = 128;
const MAX_SUBRESOURCE: usize = 256;

/// Validates the metadata of a new object (`ValidateObjectMeta`).
pub fn validate_object_meta(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    meta: &ObjectMeta,
    namespaced: bool,
    names: NameRule,
) {
    v.malformed_name(&path.child(json_name!(ObjectMeta.generate_name)), &meta.generate_name, names, true);
    if meta.name.is_empty() {
        v.required(&path.child(json_name!(ObjectMeta.name)), "name or generateName is required");
    } else {
        v.malformed_name(&path.child(json_name!(ObjectMeta.name)), &meta.name, names, false);
    }
    let namespace = path.child(json_name!(ObjectMeta.namespace));
    match (namespaced, meta.namespace.as_str()) {
        (true, "") => v.required(&namespace, ""),
        (true, name) => v.malformed(&namespace, name, format::is_dns1123_label(name)),
        (false, "") => {}
        (false, _) => v.forbidden(&namespace, "not allowed on this type"),
    }
    if meta.generation < 0 {
        v.invalid(
            &path.child(json_name!(ObjectMeta.generation)),
            meta.generation,
            "must be greater than or equal to 0",
        );
    }
    validate_labels(v, &path.child(json_name!(ObjectMeta.labels)), &meta.labels);
    validate_annotations(v, &path.child(json_name!(ObjectMeta.annotations)), &meta.annotations);
    validate_owner_references(v, &path.child(json_name!(ObjectMeta.owner_references)), &meta.owner_references);
    validate_finalizers(v, &path.child(json_name!(ObjectMeta.finalizers)), &meta.finalizers);
    validate_managed_fields(v, &path.child(json_name!(ObjectMeta.managed_fields)), &meta.managed_fields);
}

/// Validates the names of an object by a rule of its kind. The rule gets a name and whether it is a
/// `generateName` prefix.
///
/// `begin` is the index of the first error of the metadata. Upstream passes the rule to the
/// validation of metadata, which checks names first, so the errors are inserted there.
pub fn validate_object_names(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    meta: &ObjectMeta,
    begin: usize,
    rule: impl Fn(&str, bool) -> Messages,
) {
    let mut rest = v.errors.split_off(begin.min(v.errors.len())).into_iter().peekable();
    for (field, name, prefix) in [("generateName", &meta.generate_name, true), ("name", &meta.name, false)] {
        let path = path.child(field);
        let text = path.to_string();
        v.errors.extend(std::iter::from_fn(|| rest.next_if(|error| error.field == text)));
        if !name.is_empty() {
            v.malformed(&path, name, rule(name, prefix));
        }
    }
    v.errors.extend(rest);
}

/// Validates metadata by the rules for new objects, for kinds with qualified finalizers
/// (`ValidateObjectMeta` of `pkg/apis/core/validation`).
///
/// The validation of such a kind calls this between its own checks.
pub fn validate_whole_object_meta(v: &mut Validation<'_>, meta: &ObjectMeta, namespaced: bool, names: NameRule) {
    let path = Path::new("metadata");
    validate_object_meta(v, &path, meta, namespaced, names);
    validate_qualified_finalizers(v, &path.child(json_name!(ObjectMeta.finalizers)), &meta.finalizers);
}

/// Validates a change of metadata, for kinds with qualified finalizers (`ValidateObjectMetaUpdate`
/// of `pkg/apis/core/validation`).
pub fn validate_whole_object_meta_update(v: &mut Validation<'_>, new: &ObjectMeta, old: &ObjectMeta) {
    let path = Path::new("metadata");
    validate_object_meta_update(v, &path, new, old);
    validate_qualified_finalizers(v, &path.child(json_name!(ObjectMeta.finalizers)), &new.finalizers);
}

/// Validates a change of metadata (`ValidateObjectMetaUpdate`).
pub fn validate_object_meta_update(v: &mut Validation<'_>, path: &Path<'_>, new: &ObjectMeta, old: &ObjectMeta) {
    if old.deletion_timestamp.is_some() {
        validate_no_new_finalizers(v, &path.child(json_name!(ObjectMeta.finalizers)), &new.finalizers, &old.finalizers);
    }
    if new.resource_version.is_empty() {
        v.invalid(
            &path.child(json_name!(ObjectMeta.resource_version)),
            &new.resource_version,
            "must be specified for an update",
        );
    }
    if new.generation < old.generation {
        v.invalid(&path.child(json_name!(ObjectMeta.generation)), new.generation, "must not be decremented");
    }
    for (field, new, old) in
        [("name", &new.name, &old.name), ("namespace", &new.namespace, &old.namespace), ("uid", &new.uid, &old.uid)]
    {
        if new != old {
            // A UID has a named string type upstream.
            let shown = if field == "uid" { BadValue::json_string(new) } else { BadValue::from(new) };
            v.invalid(&path.child(field), shown, FIELD_IS_IMMUTABLE);
        }
    }
    for (field, new, old) in [
        ("creationTimestamp", Some(new.creation_timestamp), Some(old.creation_timestamp)),
        ("deletionTimestamp", new.deletion_timestamp, old.deletion_timestamp),
    ] {
        if new != old {
            let shown = new.map_or(BadValue::None, |time| BadValue::json_string(&time.to_string()));
            v.invalid(&path.child(field), shown, FIELD_IS_IMMUTABLE);
        }
    }
    if new.deletion_grace_period_seconds != old.deletion_grace_period_seconds {
        let shown = new.deletion_grace_period_seconds.map_or(BadValue::None, BadValue::from);
        v.invalid(&path.child(json_name!(ObjectMeta.deletion_grace_period_seconds)), shown, FIELD_IS_IMMUTABLE);
    }
    validate_labels(v, &path.child(json_name!(ObjectMeta.labels)), &new.labels);
    validate_annotations(v, &path.child(json_name!(ObjectMeta.annotations)), &new.annotations);
    validate_owner_references(v, &path.child(json_name!(ObjectMeta.owner_references)), &new.owner_references);
    validate_managed_fields(v, &path.child(json_name!(ObjectMeta.managed_fields)), &new.managed_fields);
}

/// Resets metadata that an update of `status` may not change (`ResetObjectMetaForStatus`).
pub fn reset_object_meta_for_status(new: &mut ObjectMeta, old: &ObjectMeta) {
    new.deletion_timestamp = old.deletion_timestamp;
    new.generation = old.generation;
    new.self_link.clone_from(&old.self_link);
    new.labels.clone_from(&old.labels);
    new.annotations.clone_from(&old.annotations);
    new.finalizers.clone_from(&old.finalizers);
    new.owner_references.clone_from(&old.owner_references);
}

fn validate_owner_references(v: &mut Validation<'_>, path: &Path<'_>, references: &[OwnerReference]) {
    let mut controller: Option<String> = None;
    for reference in references {
        validate_owner_reference(v, path, reference);
        if reference.controller != Some(true) {
            continue;
        }
        let name = format!("{}/{}", reference.kind, reference.name);
        match &controller {
            Some(first) => {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {name}"
                );
                let all: Vec<String> = references.iter().map(|r| json_text(Ref::of(r))).collect();
                v.invalid(path, BadValue::Json(format!("[{}]", all.join(","))), detail);
            }
            None => controller = Some(name),
        }
    }
}

fn validate_owner_reference(v: &mut Validation<'_>, path: &Path<'_>, reference: &OwnerReference) {
    // An `apiVersion` with more than one slash has no version.
    let version = match reference.api_version.split_once('/') {
        Some((_, version)) if version.contains('/') => "",
        Some((_, version)) => version,
        None => &reference.api_version,
    };
    let parts = [
        ("kind", BadValue::from(&reference.kind), reference.kind.is_empty()),
        ("name", BadValue::from(&reference.name), reference.name.is_empty()),
        ("uid", BadValue::json_string(&reference.uid), reference.uid.is_empty()),
    ];
    if version.is_empty() {
        v.invalid(
            &path.child(json_name!(OwnerReference.api_version)),
            &reference.api_version,
            "version must not be empty",
        );
    }
    for (field, value, empty) in parts {
        if empty {
            v.invalid(&path.child(field), value, "must not be empty");
        }
    }
    if reference.api_version == "v1" && reference.kind == "Event" {
        let value = BadValue::Json(json_text(Ref::of(reference)));
        v.invalid(path, value, "/v1, Kind=Event is disallowed from being an owner");
    }
}

/// Mirrors `ValidateFinalizers`.
pub fn validate_finalizers(v: &mut Validation<'_>, path: &Path<'_>, finalizers: &[String]) {
    for finalizer in finalizers {
        v.malformed(path, finalizer, format::is_qualified_name(finalizer));
    }
    let has = |name: &str| finalizers.iter().any(|f| f == name);
    if has(ORPHAN) && has(FOREGROUND) {
        let detail = format!("finalizer {ORPHAN} and {FOREGROUND} cannot be both set");
        v.invalid(path, BadValue::strings(finalizers), detail);
    }
}

/// Finalizers without a domain must be those of Kubernetes (core's `validateKubeFinalizerName`).
pub fn validate_qualified_finalizers(v: &mut Validation<'_>, path: &Path<'_>, finalizers: &[String]) {
    for (index, name) in finalizers.iter().enumerate() {
        validate_qualified_finalizer(v, &path.index(index), name);
    }
}

/// [`validate_qualified_finalizers`] for a single finalizer.
pub fn validate_qualified_finalizer(v: &mut Validation<'_>, path: &Path<'_>, name: &str) {
    if !name.contains('/') && ![KUBERNETES, ORPHAN, FOREGROUND].contains(&name) {
        v.invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified");
    }
}

fn validate_no_new_finalizers(v: &mut Validation<'_>, path: &Path<'_>, new: &[String], old: &[String]) {
    let old: BTreeSet<&String> = old.iter().collect();
    let added: BTreeSet<&String> = new.iter().filter(|name| !old.contains(name)).collect();
    if !added.is_empty() {
        let shown: Vec<String> = added.into_iter().map(|name| go_text::quote(name)).collect();
        let detail = format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
            shown.join(", ")
        );
        v.forbidden(path, detail);
    }
}

fn validate_managed_fields(v: &mut Validation<'_>, path: &Path<'_>, entries: &[ManagedFieldsEntry]) {
    for (index, entry) in entries.iter().enumerate() {
        let path = path.index(index);
        if !matches!(
            entry.operation.as_str(),
            managed_fields_operation_type::APPLY | managed_fields_operation_type::UPDATE
        ) {
            let operation = BadValue::json_string(&entry.operation);
            v.invalid(&path.child(json_name!(ManagedFieldsEntry.operation)), operation, "must be `Apply` or `Update`");
        }
        if !matches!(entry.fields_type.as_str(), "" | "FieldsV1") {
            v.invalid(
                &path.child(json_name!(ManagedFieldsEntry.fields_type)),
                &entry.fields_type,
                "must be `FieldsV1`",
            );
        }
        validate_field_manager(v, &path.child(json_name!(ManagedFieldsEntry.manager)), &entry.manager);
        if entry.subresource.len() > MAX_SUBRESOURCE {
            v.too_long(&path.child(json_name!(ManagedFieldsEntry.subresource)), MAX_SUBRESOURCE);
        }
    }
}

/// Mirrors `ValidateFieldManager`.
pub fn validate_field_manager(v: &mut Validation<'_>, path: &Path<'_>, manager: &str) {
    if manager.len() > MAX_MANAGER {
        v.too_long(path, MAX_MANAGER);
    }
    for (position, character) in manager.char_indices() {
        if !format::is_printable(character.encode_utf8(&mut [0; 4])) {
            let shown = format!("invalid character U+{:04X} (at position {position})", u32::from(character));
            v.invalid(path, manager, shown);
        }
    }
}

fn json_text(value: Ref<'_>) -> String {
    let mut out = Vec::new();
    json::encode(value, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// For cluster-scoped kinds whose metadata upstream validates on update by the rules for new
/// objects.
pub fn validate_cluster_metadata(v: &mut Validation<'_>, _: &Path<'_>, new: &ObjectMeta, _: Option<&ObjectMeta>) {
    validate_whole_object_meta(v, new, false, NameRule::Dns1123Subdomain);
}

/// [`validate_cluster_metadata`] for namespaced kinds.
pub fn validate_namespaced_metadata(v: &mut Validation<'_>, _: &Path<'_>, new: &ObjectMeta, _: Option<&ObjectMeta>) {
    validate_whole_object_meta(v, new, true, NameRule::Dns1123Subdomain);
}

/// For kinds whose change of metadata upstream validates once more, after the checks of the kind.
pub fn validate_metadata_update(v: &mut Validation<'_>, path: &Path<'_>, new: &ObjectMeta, old: Option<&ObjectMeta>) {
    if let Some(old) = old {
        validate_object_meta_update(v, path, new, old);
    }
}

/// For namespaced kinds whose metadata upstream validates among the checks of the kind, on create
/// and on update.
pub fn validate_new_or_changed_metadata(
    v: &mut Validation<'_>,
    _: &Path<'_>,
    new: &ObjectMeta,
    old: Option<&ObjectMeta>,
) {
    match old {
        Some(old) => validate_whole_object_meta_update(v, new, old),
        None => validate_whole_object_meta(v, new, true, NameRule::Dns1123Subdomain),
    }
}

/// For kinds whose change of metadata upstream validates among the checks of the kind.
pub fn validate_whole_metadata_update(
    v: &mut Validation<'_>,
    _: &Path<'_>,
    new: &ObjectMeta,
    old: Option<&ObjectMeta>,
) {
    if let Some(old) = old {
        validate_whole_object_meta_update(v, new, old);
    }
}
