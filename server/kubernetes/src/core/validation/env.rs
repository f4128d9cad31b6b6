//! Validation of the pod fields that environment variables and files may refer to.

use machinery::field_path::Path;
use machinery::format;
use machinery::hooks::Validation;
use machinery::json_name;

use crate::Error;
use generated::core::v1::ObjectFieldSelector;

/// Pod fields that environment variables may refer to.
const ENV_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// Pod fields that files may refer to.
const VOLUME_FIELDS: [&str; 5] =
    ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];

/// Pod fields that have a label in the downward API (`ConvertDownwardAPIFieldLabel`).
const KNOWN_FIELDS: [&str; 14] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.serviceAccountName",
    "spec.schedulerName",
    "status.phase",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// Validates the field of an environment variable (`validateObjectFieldSelector`). Hand-written,
/// because fields have legacy names, and keys in brackets.
pub fn validate_field_of_variable(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    selector: &ObjectFieldSelector,
    _: Option<&ObjectFieldSelector>,
) {
    validate_field(v, path, selector, &ENV_FIELDS);
}

/// Validates the field of a file.
pub fn validate_field_of_file(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    selector: &ObjectFieldSelector,
    _: Option<&ObjectFieldSelector>,
) {
    validate_field(v, path, selector, &VOLUME_FIELDS);
}

/// `shown` are the fields that are allowed here.
fn validate_field(v: &mut Validation<'_>, path: &Path<'_>, selector: &ObjectFieldSelector, shown: &[&str]) {
    let field_path = path.child(json_name!(ObjectFieldSelector.field_path));
    let requested = selector.field_path.as_str();
    if let Err(why) = check_field_label(&selector.api_version, requested) {
        return v.invalid(&field_path, requested, format!("error converting fieldPath: {why}"));
    }
    let field = if requested == "spec.host" { "spec.nodeName" } else { requested };
    match split_subscript(field) {
        Some(("metadata.annotations", key)) => {
            let key = key.to_lowercase();
            v.malformed(path, &key, format::is_qualified_name(&key));
        }
        Some((_, key)) => v.malformed(path, key, format::is_qualified_name(key)),
        None if !shown.contains(&field) => v.not_supported(&field_path, field, shown),
        None => {}
    }
}

/// `ConvertDownwardAPIFieldLabel`
fn check_field_label(version: &str, label: &str) -> Result<(), Error> {
    if version != "v1" {
        return Err(Error::PodVersion { version: version.to_owned() });
    }
    match split_subscript(label) {
        Some(("metadata.annotations" | "metadata.labels", _)) => Ok(()),
        Some(_) => Err(Error::Subscript { label: label.to_owned() }),
        None if label == "spec.host" || KNOWN_FIELDS.contains(&label) => Ok(()),
        None => Err(Error::FieldLabel { label: label.to_owned() }),
    }
}

/// The parts of `metadata.labels['key']` (`SplitMaybeSubscriptedPath`).
fn split_subscript(path: &str) -> Option<(&str, &str)> {
    path.strip_suffix("']")?.split_once("['").filter(|(path, _)| !path.is_empty())
}
