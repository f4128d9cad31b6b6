//! The fields and resources that variables and files may show.

use machinery::field_path::Path;
use machinery::format;
use machinery::hooks::Validation;

use generated::core::v1::{ObjectFieldSelector, ResourceFieldSelector};

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

const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];
const HUGE_PAGES: [&str; 2] = ["limits.hugepages-", "requests.hugepages-"];

const CPU_DIVISORS: [&str; 2] = ["1m", "1"];
const BYTE_DIVISORS: [&str; 13] = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

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
    let field_path = path.child("fieldPath");
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

/// By hand: huge pages of any size are known.
pub fn validate_shown_resource(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    selector: &ResourceFieldSelector,
    _: Option<&ResourceFieldSelector>,
) {
    let resource = selector.resource.as_str();
    if !RESOURCES.contains(&resource) && !HUGE_PAGES.iter().any(|prefix| resource.starts_with(prefix)) {
        v.not_supported(&path.child("resource"), resource, &RESOURCES);
    }
}

/// `validateContainerResourceDivisor`, which shows the resource as the bad value. By hand: what is allowed depends on
/// the
/// resource, by the beginning of its name.
pub fn validate_divisor(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    selector: &ResourceFieldSelector,
    _: Option<&ResourceFieldSelector>,
) {
    let (resource, divisor, path) = (selector.resource.as_str(), &selector.divisor, &path.child("divisor"));
    if divisor.is_zero() {
        return;
    }
    let (allowed, shown, of): (&[&str], String, &str) = match resource {
        "limits.cpu" | "requests.cpu" => (&CPU_DIVISORS, CPU_DIVISORS.join(" and "), "cpu"),
        "limits.memory" | "requests.memory" => (&BYTE_DIVISORS, BYTE_DIVISORS.join(", "), "memory"),
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => {
            (&BYTE_DIVISORS, BYTE_DIVISORS.join(", "), "local ephemeral storage")
        }
        _ if HUGE_PAGES.iter().any(|prefix| resource.starts_with(prefix)) => {
            (&BYTE_DIVISORS, BYTE_DIVISORS.join(", "), "hugepages")
        }
        _ => return,
    };
    if !allowed.contains(&divisor.to_string().as_str()) {
        let detail = format!("only divisor's values {shown} are supported with the {of} resource");
        v.invalid(path, resource, detail);
    }
}
