//! The strategy of custom objects (`pkg/registry/customresource`).

use std::collections::HashSet;
use std::sync::Arc;

use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::format::is_qualified_name;
use machinery::hooks::WriteContext;
use machinery::json::Node;
use machinery::reflect::{Owned, Ref};
use patch::go_print;
use registry::{Strategy, validate_metadata};
use schema::{Pair, Schema};
use serde_json::{Map, Value};

use crate::custom::{CustomKind, CustomVersion};
use crate::error::{Error, Result};
use crate::unstructured::Unstructured;

/// The strategy of a version.
pub struct CustomStrategy {
    pub kind: Arc<CustomKind>,
    pub name: String,
}

/// Finalizers without a domain that are accepted.
const STANDARD_FINALIZERS: [&str; 3] = ["orphan", "foregroundDeletion", "kubernetes"];

impl CustomStrategy {
    fn version(&self) -> Option<&CustomVersion> {
        self.kind.version(&self.name)
    }

    fn has_status(&self) -> bool {
        self.version().is_some_and(|version| version.has_status)
    }
}

impl Strategy for CustomStrategy {
    fn prepare_for_create(&self, _: &WriteContext, object: &mut Owned) {
        let has_status = self.has_status();
        let Some(object) = object.downcast_mut::<Unstructured>() else { return };
        if has_status {
            object.content.0.shift_remove("status");
        }
        object.metadata.generation = 1;
    }

    /// Applies the default status in the stored version, because the create strategy drops the
    /// status after defaulting.
    fn after_create(&self, object: &mut Owned) {
        let is_stored = self.name == self.kind.storage_version;
        let version = self.version().filter(|version| is_stored && version.has_status);
        if let (Some(version), Some(object)) = (version, object.downcast_mut::<Unstructured>()) {
            version.default_status(object);
        }
    }

    fn prepare_for_update(&self, context: &WriteContext, new: &mut Owned, old: Ref<'_>) {
        let has_status = self.has_status();
        let (Some(new), Some(old)) = (new.downcast_mut::<Unstructured>(), old.downcast::<Unstructured>()) else {
            return;
        };
        if context.subresource == "status" {
            return take_status(new, old);
        }
        if has_status {
            keep_status(new, old);
        }
        if new.content != old.content {
            new.metadata.generation = old.metadata.generation + 1;
        }
    }

    fn validate(&self, context: &WriteContext, object: Ref<'_>) -> Vec<FieldError> {
        self.version().map_or(Vec::new(), |version| Validation { version, context, new: object, old: None }.run())
    }

    fn validate_update(&self, context: &WriteContext, new: Ref<'_>, old: Ref<'_>) -> Vec<FieldError> {
        self.version().map_or(Vec::new(), |version| Validation { version, context, new, old: Some(old) }.run())
    }

    fn warnings(&self, context: &WriteContext, new: Ref<'_>, old: Option<Ref<'_>>) -> Vec<String> {
        let finalizers = |object: Ref<'_>| registry::meta(object).map_or(Vec::new(), |meta| meta.finalizers.clone());
        if context.subresource == "status" {
            return Vec::new();
        }
        let old: HashSet<String> = old.map_or(Vec::new(), finalizers).into_iter().collect();
        let mut added: Vec<String> = finalizers(new).into_iter().filter(|name| !old.contains(name)).collect();
        added.sort_unstable();
        added.iter().flat_map(|name| finalizer_warnings(name)).collect()
    }

    fn grace_period(&self, _: Option<i64>, _: Ref<'_>) -> Option<i64> {
        None
    }
}

/// Keeps all fields but the status.
fn take_status(new: &mut Unstructured, old: &Unstructured) {
    let status = new.content.0.shift_remove("status");
    let managed_fields = std::mem::take(&mut new.metadata.managed_fields);
    new.metadata.clone_from(&old.metadata);
    new.metadata.managed_fields = managed_fields;
    new.content.clone_from(&old.content);
    match status {
        Some(status) => drop(new.content.0.insert("status".into(), status)),
        None => drop(new.content.0.shift_remove("status")),
    }
}

/// Keeps the status.
fn keep_status(new: &mut Unstructured, old: &Unstructured) {
    match old.content.0.get("status") {
        Some(status) => drop(new.content.0.insert("status".into(), status.clone())),
        None => drop(new.content.0.shift_remove("status")),
    }
}

/// `validateKubeFinalizerName`
fn finalizer_warnings(name: &str) -> Vec<String> {
    let mut warnings: Vec<String> =
        is_qualified_name(name).into_iter().map(|why| format!("metadata.finalizers: {name:?}: {why}")).collect();
    if !name.contains('/') && !STANDARD_FINALIZERS.contains(&name) {
        let path = if name.contains('.') { " including a path (/)" } else { "" };
        warnings.push(format!(
            "metadata.finalizers: {name:?}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers"
        ));
    }
    warnings
}

/// Validation of one object.
struct Validation<'v> {
    version: &'v CustomVersion,
    context: &'v WriteContext,
    new: Ref<'v>,
    old: Option<Ref<'v>>,
}

impl Validation<'_> {
    fn run(&self) -> Vec<FieldError> {
        let mut errors = self.type_errors();
        let Some(resource) = self.version.def.resource.filter(|_| errors.is_empty()) else { return errors };
        validate_metadata(self.context, self.new, self.old, resource, &mut errors);
        if self.is_certainly_valid() {
            return errors;
        }
        let of_status = self.context.subresource == "status";
        let (new, old) = (self.document(self.new), self.old.map(|old| self.document(old)));
        if let Some(schema) = self.version.schema() {
            errors.extend(if of_status {
                of_status_schema(schema, &new, old.as_ref())
            } else {
                of_schema(schema, &new, old.as_ref())
            });
        }
        self.scale(&new, !of_status, &mut errors);
        if let Some(schema) = self.version.schema() {
            if !of_status {
                schema::check_embedded(self.context, &Path::NONE, &new, schema, &mut errors);
            }
            lists(schema, &new, old.as_ref(), &mut errors);
        }
        self.rules(&new, old.as_ref(), &mut errors);
        errors
    }

    /// Whether the object is valid independent of its old state. Does not build a tree.
    fn is_certainly_valid(&self) -> bool {
        let version = self.version;
        version.rules().is_none()
            && version.scale().is_none()
            && version
                .schema()
                .zip(self.new.downcast::<Unstructured>())
                .is_some_and(|(schema, object)| schema::is_certainly_valid(schema, &object.content.0))
    }

    /// Runs validation rules, unless other errors make them meaningless.
    fn rules(&self, new: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
        let Some(rules) = self.version.rules() else { return };
        match schema::blocked(errors) {
            Some(blocked) => errors.push(blocked),
            None => {
                let pair = old.zip(self.version.schema()).map(|(old, schema)| Pair { new, old, schema });
                errors.extend(rules.check(self.context, new, old, pair));
            }
        }
    }

    /// Converts the object to a tree for schemas and rules. Omits `managedFields`.
    fn document(&self, object: Ref<'_>) -> Value {
        let Some(object) = object.downcast::<Unstructured>() else { return Value::Null };
        let mut metadata = Map::new();
        Node::from(Ref::of(&object.metadata)).each_member(&mut |name, value| {
            if name != "managedFields" {
                metadata.insert(name.to_owned(), value.to_tree());
            }
        });
        let mut members = object.content.0.clone();
        members.insert("apiVersion".into(), self.version.api_version.as_str().into());
        members.insert("kind".into(), self.version.def.kind.into());
        members.insert("metadata".into(), Value::Object(metadata));
        Value::Object(members)
    }

    /// `ValidateTypeMeta`
    fn type_errors(&self) -> Vec<FieldError> {
        let Some(object) = self.new.downcast::<Unstructured>() else { return Vec::new() };
        let mut errors = Vec::new();
        let check = |name: &str, value: &str, wanted: &str| {
            let wrong = !value.is_empty() && value != wanted;
            wrong.then(|| FieldError::invalid(&Path::new(name), value, format!("must be {wanted}")))
        };
        errors.extend(check("kind", &object.type_meta.kind, self.version.def.kind));
        errors.extend(check("apiVersion", &object.type_meta.api_version, &self.version.api_version));
        errors
    }

    /// Checks that replicas are numbers that a Scale can represent.
    fn scale(&self, object: &Value, with_spec: bool, errors: &mut Vec<FieldError>) {
        let Some(paths) = self.version.scale() else { return };
        if with_spec {
            errors.extend(replicas(object, paths.replicas));
        }
        errors.extend(replicas(object, paths.observed));
        if !paths.selector.is_empty() {
            let wrong = match at(object, paths.selector) {
                Ok(found) => found
                    .filter(|value| !value.is_string())
                    .map(|value| wrong_type(&format!(".{}", paths.selector), value, "string")),
                Err(why) => Some(why),
            };
            let path = format!(".{}", paths.selector);
            errors.extend(wrong.map(|why| FieldError::invalid(&Path::new(&path), "", why.to_string())));
        }
    }
}

/// Returns the value at a path, like `unstructured.NestedFieldNoCopy`.
///
/// # Errors
/// Returns the error for a non-object before the end of the path.
fn at<'v>(object: &'v Value, path: &str) -> Result<Option<&'v Value>> {
    let mut value = object;
    for (at, name) in path.split('.').enumerate() {
        let Value::Object(members) = value else {
            // Upstream's path includes the missing member.
            let read: Vec<&str> = path.split('.').take(at + 1).collect();
            let is_null = value.is_null();
            return if is_null { Ok(None) } else { Err(wrong_type(&format!(".{}", read.join(".")), value, OBJECT)) };
        };
        let Some(member) = members.get(name) else { return Ok(None) };
        value = member;
    }
    Ok(Some(value))
}

/// Go's name of an object's type.
const OBJECT: &str = "map[string]interface{}";

fn replicas(object: &Value, path: &str) -> Option<FieldError> {
    let found = at(object, path);
    let path = format!(".{path}");
    let field = Path::new(&path);
    let value = match found {
        Ok(value) => value?,
        Err(why) => return Some(FieldError::invalid(&field, 0, why.to_string())),
    };
    let Some(count) = value.as_i64() else {
        return Some(FieldError::invalid(&field, 0, wrong_type(&path, value, "int64").to_string()));
    };
    match count {
        ..0 => Some(FieldError::invalid(&field, count, "should be a non-negative integer")),
        count if i32::try_from(count).is_err() => {
            Some(FieldError::invalid(&field, count, format!("should be less than or equal to {}", i32::MAX)))
        }
        _ => None,
    }
}

/// Formats the error of `unstructured.NestedInt64`.
fn wrong_type(path: &str, value: &Value, wanted: &'static str) -> Error {
    let found = if value.is_null() { "<nil>" } else { go_print::type_name(value) };
    Error::WrongType { path: path.to_owned(), text: go_print::plain(value), found, wanted }
}

fn of_schema(schema: &Schema, new: &Value, old: Option<&Value>) -> Vec<FieldError> {
    match old {
        None => schema::check(schema, new, ""),
        Some(old) => schema::check_update(schema, new, old, ""),
    }
}

fn of_status_schema(schema: &Schema, new: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let (Some(schema), Some(new)) = (schema.property("status"), new.get("status")) else { return Vec::new() };
    match old.and_then(|old| old.get("status")) {
        None => schema::check(schema, new, "status"),
        Some(old) => schema::check_update(schema, new, old, "status"),
    }
}

/// Checks list types, unless the old object already violates them.
fn lists(schema: &Schema, new: &Value, old: Option<&Value>, errors: &mut Vec<FieldError>) {
    let faults = |value: &Value| {
        let mut faults = Vec::new();
        schema::check_lists(&Path::NONE, schema, value, &mut faults);
        faults
    };
    if old.is_none_or(|old| faults(old).is_empty()) {
        errors.extend(faults(new));
    }
}
