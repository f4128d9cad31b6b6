//! Embedded objects (`x-kubernetes-embedded-resource`): decodes and validates their metadata like
//! that of any object (`schema/objectmeta`).

use apimachinery::meta::v1::ObjectMeta;
use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::format::{NameRule, field};
use machinery::hooks::{Validation, WriteContext};
use machinery::json::{self, Issue, Issues};
use machinery::reflect::{Mut, Ref};
use meta::validate_object_meta;
use serde_json::Value;

use crate::lists::sorted;
use crate::result::shown;
use crate::{Additional, Schema};

/// Decodes the metadata of embedded objects, and drops its unknown fields, which are added to
/// `issues`.
///
/// Malformed metadata is an error. With `is_stored`, it stays as it is.
pub fn coerce_embedded(
    path: &Path<'_>,
    value: &mut Value,
    schema: &Schema,
    is_stored: bool,
    issues: &mut Issues,
) -> Result<(), FieldError> {
    if !schema.below.embedded {
        return Ok(());
    }
    match value {
        Value::Object(members) => {
            for (name, value) in members.iter_mut() {
                if schema.flags.embedded_resource {
                    coerce_member(path, name, value, is_stored, issues)?;
                }
                match (schema.property(name), &schema.additional) {
                    (Some(property), _) => coerce_embedded(&path.child(name), value, property, is_stored, issues)?,
                    (None, Additional::Schema(of)) => coerce_embedded(&path.key(name), value, of, is_stored, issues)?,
                    _ => {}
                }
            }
        }
        Value::Array(items) => {
            let Some(of) = &schema.items else { return Ok(()) };
            for (index, item) in items.iter_mut().enumerate() {
                coerce_embedded(&path.index(index), item, of, is_stored, issues)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn coerce_member(
    path: &Path<'_>,
    name: &str,
    value: &mut Value,
    is_stored: bool,
    issues: &mut Issues,
) -> Result<(), FieldError> {
    match name {
        "apiVersion" | "kind" if !value.is_string() && !is_stored => {
            Err(FieldError::invalid(&path.child(name), shown(value), "must be a string"))
        }
        "metadata" => {
            let (mut meta, mut found) = (ObjectMeta::default(), Issues::collect());
            match json::from_value(value, Mut::of(&mut meta), &mut found) {
                Ok(()) => {
                    let prefix = path.child("metadata");
                    for issue in found.iter() {
                        if let Issue::Unknown(field) = issue {
                            issues.add(Issue::Unknown(format!("{prefix}.{field}").into()));
                        }
                    }
                    *value = json::to_value(Ref::of(&meta));
                    Ok(())
                }
                Err(_) if is_stored => Ok(()),
                Err(why) => Err(FieldError::invalid(&path.child(name), shown(value), why.to_string())),
            }
        }
        _ => Ok(()),
    }
}

/// Validates the type and the metadata of embedded objects.
pub fn check_embedded(
    context: &WriteContext,
    path: &Path<'_>,
    value: &Value,
    schema: &Schema,
    errors: &mut Vec<FieldError>,
) {
    if !schema.below.embedded {
        return;
    }
    match value {
        Value::Object(members) => {
            if schema.flags.embedded_resource {
                check_object(context, path, value, errors);
            }
            for (name, value) in sorted(members) {
                match (schema.property(name), &schema.additional) {
                    (Some(property), _) => check_embedded(context, &path.child(name), value, property, errors),
                    (None, Additional::Schema(of)) => check_embedded(context, &path.key(name), value, of, errors),
                    _ => {}
                }
            }
        }
        Value::Array(items) => {
            let Some(of) = &schema.items else { return };
            for (index, item) in items.iter().enumerate() {
                check_embedded(context, &path.index(index), item, of, errors);
            }
        }
        _ => {}
    }
}

fn check_object(context: &WriteContext, path: &Path<'_>, value: &Value, errors: &mut Vec<FieldError>) {
    for name in ["apiVersion", "kind"] {
        if value.get(name).is_none() {
            errors.push(FieldError::required(&path.child(name), ""));
        }
    }
    for name in ["apiVersion", "kind"] {
        let at = path.child(name);
        match value.get(name) {
            None => {}
            Some(Value::String(text)) if text.is_empty() => {
                errors.push(FieldError::invalid(&at, "", "must not be empty"));
            }
            Some(Value::String(text)) => errors.extend(type_fault(&at, name, text)),
            Some(other) => errors.push(FieldError::invalid(&at, shown(other), "must be a string")),
        }
    }
    if let Some(metadata) = value.get("metadata") {
        check_metadata(context, &path.child("metadata"), metadata, errors);
    }
}

fn type_fault(path: &Path<'_>, name: &str, text: &str) -> Option<FieldError> {
    let wrong = if name == "apiVersion" { field::api_version } else { field::kind_name };
    wrong(path, text).pop()
}

fn check_metadata(context: &WriteContext, path: &Path<'_>, metadata: &Value, errors: &mut Vec<FieldError>) {
    let mut meta = ObjectMeta::default();
    if let Err(why) = json::from_value(metadata, Mut::of(&mut meta), &mut Issues::ignore()) {
        errors.push(FieldError::invalid(path, shown(metadata), why.to_string()));
        return;
    }
    if meta.name.is_empty() {
        // An embedded object needs no name, but the validation of metadata requires one.
        meta.name = "fakename".into();
    }
    let is_namespaced = !meta.namespace.is_empty();
    let mut v = Validation::new(context, errors);
    validate_object_meta(&mut v, path, &meta, is_namespaced, NameRule::PathSegment);
}
