//! The fields that variables and files may show.

use machinery::field_path::Path;
use machinery::format;
use machinery::hooks::Validation;
use machinery::json_name;

use generated::core::v1::ObjectFieldSelector;

/// The fields of a pod that variables may show.
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

/// The fields of a pod that files may show.
const VOLUME_FIELDS: [&str; 5] =
    ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];

/// The fields of a pod that have a name at all for its own containers (`ConvertDownwardAPIFieldLabel`).
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

/// A field that a variable shows (`validateObjectFieldSelector`). By hand: fields have names of old, and keys in
/// brackets.
pub fn validate_field_of_variable(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    selector: &ObjectFieldSelector,
    _: Option<&ObjectFieldSelector>,
) {
    validate_field(v, path, selector, &ENV_FIELDS);
}

/// A field that a file shows.
pub fn validate_field_of_file(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    selector: &ObjectFieldSelector,
    _: Option<&ObjectFieldSelector>,
) {
    validate_field(v, path, selector, &VOLUME_FIELDS);
}

/// `shown` are the fields that may be asked for here.
fn validate_field(v: &mut Validation<'_>, path: &Path<'_>, selector: &ObjectFieldSelector, shown: &[&str]) {
    let field_path = path.child(json_name!(ObjectFieldSelector.field_path));
    let asked = selector.field_path.as_str();
    if let Err(why) = check_field_label(&selector.api_version, asked) {
        return v.invalid(&field_path, asked, format!("error converting fieldPath: {why}"));
    }
    let field = if asked == "spec.host" { "spec.nodeName" } else { asked };
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
fn check_field_label(version: &str, label: &str) -> Result<(), String> {
    if version != "v1" {
        return Err(format!("unsupported pod version: {version}"));
    }
    match split_subscript(label) {
        Some(("metadata.annotations" | "metadata.labels", _)) => Ok(()),
        Some(_) => Err(format!("field label does not support subscript: {label}")),
        None if label == "spec.host" || KNOWN_FIELDS.contains(&label) => Ok(()),
        None => Err(format!("field label not supported: {label}")),
    }
}

/// The parts of `metadata.labels['key']` (`SplitMaybeSubscriptedPath`).
fn split_subscript(path: &str) -> Option<(&str, &str)> {
    path.strip_suffix("']")?.split_once("['").filter(|(path, _)| !path.is_empty())
}
