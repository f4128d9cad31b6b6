//! Resolves the group, version and kind that a document declares, and compares them with those of
//! the path.

use apimachinery::meta::v1::{self as metav1, ObjectMeta};
use machinery::budget::DecodeError;
use machinery::catalog::{Catalog, KindDef, parse_api_version};
use machinery::def::StructDef;
use machinery::json;
use machinery::reflect::{Owned, Struct};
use machinery::scalar::go_text::quote;
use machinery::status::Status;
use serde_json::Value;

/// Result of resolving the kind of a document.
pub enum ResolvedKind {
    /// The expected kind, in a version that converts to its hub. The version may differ from the
    /// path's.
    Same(&'static KindDef),
    /// Another kind. The document is decoded; then its conversion fails.
    Other(&'static KindDef),
    /// A kind of the machinery, such as `Status` or `List`. The document is decoded; then its
    /// conversion fails.
    Machinery(&'static StructDef),
    /// The expected kind in upstream's internal form (`__internal`).
    Internal,
    /// A group without a version.
    NoVersion,
    /// A list, or a kind that no version has. The text is the reason of the rejection.
    Refused(String),
}

/// The version that upstream's internal types are registered with (`runtime.APIVersionInternal`).
const INTERNAL: &str = "__internal";

/// Unversioned kinds, which belong to every group version (`Scheme.AddUnversionedTypes`).
const UNVERSIONED: [&str; 5] = ["Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList"];

/// Kinds that upstream registers in each version of each group (`metav1.AddToGroupVersion`). They
/// have no conversions.
const OF_EVERY_VERSION: [&str; 7] =
    ["WatchEvent", "ListOptions", "GetOptions", "DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions"];

/// Whether a kind has no version. Such kinds have no conversions.
pub fn is_unversioned(kind: &str) -> bool {
    UNVERSIONED.contains(&kind)
}

/// Resolves the kind of a document with `api_version` and `kind`, relative to `expected`. Either
/// may be empty.
pub fn resolve(catalog: &'static Catalog, expected: &'static KindDef, api_version: &str, kind: &str) -> ResolvedKind {
    let (group, version) = group_version(api_version, (expected.group, expected.version));
    if version.is_empty() {
        return ResolvedKind::NoVersion;
    }
    let name = if kind.is_empty() { expected.kind } else { kind };
    if (group, version, name) == (expected.group, expected.version, expected.kind) {
        return ResolvedKind::Same(expected);
    }
    let is_of_every_version =
        || OF_EVERY_VERSION.contains(&name) && catalog.kinds.iter().any(|k| (k.group, k.version) == (group, version));
    if let Some(def) = machinery_kind(name).filter(|_| is_unversioned(name) || is_of_every_version()) {
        return ResolvedKind::Machinery(def);
    }
    if version == INTERNAL {
        return internal(catalog, expected, group, name).map_or(ResolvedKind::Internal, ResolvedKind::Refused);
    }
    if has_own_scheme(expected) && group != expected.group {
        return ResolvedKind::Refused(not_registered(name, group, version));
    }
    if (group, version, name) == ("", "v1", "List") {
        return ResolvedKind::Machinery(metav1::List::def());
    }
    match catalog.kind(group, version, name) {
        Some(found) if std::ptr::eq(found.hub, expected.hub) => ResolvedKind::Same(found),
        Some(found) => ResolvedKind::Other(found),
        None if catalog.kinds.iter().any(|k| (k.group, k.version, k.list_kind) == (group, version, name)) => {
            ResolvedKind::Refused(no_conversion(expected, version, name))
        }
        None => ResolvedKind::Refused(not_registered(name, group, version)),
    }
}

/// Parses an `apiVersion` with defaults. The default applies if both parts are empty, or if the
/// version is empty and the group is the default group (`gvkWithDefaults`).
pub fn group_version<'a>(api_version: &'a str, default: (&'a str, &'a str)) -> (&'a str, &'a str) {
    let (group, version) = parse_api_version(api_version);
    if version.is_empty() && (group.is_empty() || group == default.0) { default } else { (group, version) }
}

/// Returns the reason why a document without a version is not of kind `expected`; nothing if it is.
/// Such a document is one of upstream's internal types.
pub fn internal_refused(catalog: &'static Catalog, expected: &'static KindDef, kind: &str) -> Option<String> {
    if is_unversioned(kind) {
        return Some(no_conversion(expected, "v1", kind));
    }
    internal(catalog, expected, expected.group, if kind.is_empty() { expected.kind } else { kind })
}

/// Returns the reason why a document of the internal form of a kind of `group` is not of kind
/// `expected`; nothing if it is.
fn internal(catalog: &'static Catalog, expected: &'static KindDef, group: &str, kind: &str) -> Option<String> {
    if (group, kind) == (expected.group, expected.kind) {
        return None;
    }
    let is_known = group == expected.group || !has_own_scheme(expected);
    if is_known && kind == "WatchEvent" && catalog.kinds.iter().any(|known| known.group == group) {
        return Some(no_conversion(expected, "v1", "InternalEvent"));
    }
    let is_list = kind == "List" && group.is_empty();
    let is_kind = |known: &&KindDef| known.group == group && (known.kind == kind || known.list_kind == kind);
    if is_known && (is_list || catalog.kinds.iter().any(|known| is_kind(&known))) {
        return Some(no_conversion(expected, internal_package(group), kind));
    }
    let (kind, group) = (quote(kind), quote(group));
    Some(format!(
        "no kind {kind} is registered for the internal version of group {group} in scheme \
         \"pkg/api/legacyscheme/scheme.go:30\""
    ))
}

/// Reports unknown fields of a document in upstream's internal form. Go embeds the metadata in the
/// object there, so metadata fields are siblings of `kind`. Other fields have Go's names.
pub fn unknown_internal_fields(expected: &KindDef, document: &Value, issues: &mut json::Issues) {
    let is_metadata = |name: &str| ObjectMeta::def().fields.iter().any(|field| field.json == name);
    let is_field = |name: &str| expected.def.fields.iter().any(|field| json::go_name(field.json) == name);
    for name in document.as_object().into_iter().flatten().map(|(name, _)| name.as_str()) {
        if !(matches!(name, "apiVersion" | "kind") || is_metadata(name) || is_field(name)) {
            issues.add(json::Issue::Unknown(name.into()));
        }
    }
}

/// Whether the kind's server within upstream has its own scheme, without other groups.
fn has_own_scheme(kind: &KindDef) -> bool {
    matches!(kind.group, "apiextensions.k8s.io" | "apiregistration.k8s.io")
}

/// Error text for a JSON document of a group without a version.
pub fn no_version(document: &[u8]) -> String {
    format!("Object 'apiVersion' is missing in '{}'", String::from_utf8_lossy(document))
}

/// Error text for a JSON document without a kind, if there is no default kind.
pub fn no_kind(document: &[u8]) -> String {
    format!("Object 'Kind' is missing in '{}'", String::from_utf8_lossy(document))
}

fn machinery_kind(name: &str) -> Option<&'static StructDef> {
    Some(match name {
        "Status" => metav1::Status::def(),
        "APIVersions" => metav1::APIVersions::def(),
        "APIGroup" => metav1::APIGroup::def(),
        "APIGroupList" => metav1::APIGroupList::def(),
        "APIResourceList" => metav1::APIResourceList::def(),
        "WatchEvent" => metav1::WatchEvent::def(),
        "ListOptions" => metav1::ListOptions::def(),
        "GetOptions" => metav1::GetOptions::def(),
        "DeleteOptions" => metav1::DeleteOptions::def(),
        "CreateOptions" => metav1::CreateOptions::def(),
        "UpdateOptions" => metav1::UpdateOptions::def(),
        "PatchOptions" => metav1::PatchOptions::def(),
        _ => return None,
    })
}

/// Returns the reason why a JSON document of a machinery kind is not an object of `expected`.
///
/// # Errors
/// Returns 413 or 429 when a memory budget is exceeded.
pub fn machinery_refused(expected: &KindDef, def: &'static StructDef, document: &[u8]) -> Result<String, Status> {
    let mut value = Owned::new(def);
    let decoded = json::decode_version(document, "v1", value.as_mut(), &mut json::Issues::only_limit());
    match decoded {
        Ok(()) => Ok(no_conversion(expected, "v1", def.name)),
        Err(error) => {
            let mut why = None;
            let status = error.into_status(|malformed| {
                why = Some(malformed.to_string());
                Status::bad_request("")
            });
            why.ok_or(status)
        }
    }
}

/// Whether an object of `kind` converts to `expected`. Scales of the old workload versions convert
/// to the Scale of autoscaling, which replaced them.
pub fn is_version_of(kind: &KindDef, expected: &KindDef) -> bool {
    std::ptr::eq(kind.hub, expected.hub) || (kind.kind == "Scale" && expected.kind == "Scale")
}

/// Error text for a decoded object of another kind.
pub fn no_conversion(expected: &KindDef, version: &str, kind: &str) -> String {
    let package = internal_package(expected.group);
    format!("converting ({version}.{kind}) to ({package}.{}): unknown conversion", expected.kind)
}

fn not_registered(kind: &str, group: &str, version: &str) -> String {
    let api_version = if group.is_empty() { version.to_string() } else { format!("{group}/{version}") };
    let (kind, api_version) = (quote(kind), quote(&api_version));
    format!("no kind {kind} is registered for version {api_version} in scheme \"pkg/api/legacyscheme/scheme.go:30\"")
}

/// Returns the reason why an `apiVersion` is malformed (`schema.ParseGroupVersion`).
pub fn malformed_version(api_version: &str) -> Option<String> {
    (api_version.matches('/').count() > 1).then(|| format!("unexpected GroupVersion string: {api_version}"))
}

/// Error text for a body of another kind, where the scheme has only the Scale of custom resources.
pub fn not_in_scheme(expected: &KindDef) -> String {
    let KindDef { version, kind, .. } = expected;
    format!("no kind is registered for the type {version}.{kind} in scheme \"k8s.io/client-go/scale/util.go:81\"")
}

/// The Go package of upstream's internal types of a group, for messages.
pub fn internal_package(group: &str) -> &str {
    match group {
        "" | "events.k8s.io" => "core",
        group => group.split('.').next().unwrap_or(group),
    }
}
