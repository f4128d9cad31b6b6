//! The kind and version that a document says it is of, and whether that may stand for the kind of the path.

use machinery::catalog::{Catalog, KindDef, parse_api_version};
use machinery::scalar::go_text::quote;

/// What decoding a document begins with.
pub enum Said {
    /// Of the kind itself in a version that converts to its hub; it may be another version than the path's.
    Same(&'static KindDef),
    /// Of another kind: it is decoded, and then does not convert.
    Other(&'static KindDef),
    /// A list, or what no version has; the text says why it is refused.
    Refused(String),
}

/// Kinds without a version, which every version has (`Scheme.AddUnversionedTypes`).
const UNVERSIONED: [&str; 5] = ["Status", "APIVersions", "APIGroup", "APIGroupList", "APIResourceList"];

/// Kinds that upstream registers in each version of each group (`metav1.AddToGroupVersion`); they convert to nothing.
const OF_EVERY_VERSION: [&str; 7] =
    ["WatchEvent", "ListOptions", "GetOptions", "DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions"];

/// Whether a kind is one of those that belong to no version; they convert to nothing.
pub fn is_unversioned(kind: &str) -> bool {
    UNVERSIONED.contains(&kind)
}

/// What a document of `api_version` and `kind`, either of which may be empty, is to `expected`.
pub fn resolve(catalog: &'static Catalog, expected: &'static KindDef, api_version: &str, kind: &str) -> Said {
    let (group, version) = match api_version {
        "" => (expected.group, expected.version),
        said => parse_api_version(said),
    };
    let name = if kind.is_empty() { expected.kind } else { kind };
    if (group, version, name) == (expected.group, expected.version, expected.kind) {
        return Said::Same(expected);
    }
    let is_of_every_version =
        || OF_EVERY_VERSION.contains(&name) && catalog.kinds.iter().any(|k| (k.group, k.version) == (group, version));
    if is_unversioned(name) || (group, version, name) == ("", "v1", "List") || is_of_every_version() {
        return Said::Refused(no_conversion(expected, "v1", name));
    }
    match catalog.kind(group, version, name) {
        Some(said) if std::ptr::eq(said.hub, expected.hub) => Said::Same(said),
        Some(said) => Said::Other(said),
        None if catalog.kinds.iter().any(|k| (k.group, k.version, k.list_kind) == (group, version, name)) => {
            Said::Refused(no_conversion(expected, version, name))
        }
        None => Said::Refused(not_registered(name, group, version)),
    }
}

/// Whether an object of `kind` converts to one of `expected`. Scales of the workloads' old versions do to that of autoscaling, for which they
/// were given up.
pub fn is_version_of(kind: &KindDef, expected: &KindDef) -> bool {
    std::ptr::eq(kind.hub, expected.hub) || (kind.kind == "Scale" && expected.kind == "Scale")
}

/// Why an object of another kind is refused, once it has been decoded.
pub fn no_conversion(expected: &KindDef, version: &str, kind: &str) -> String {
    let package = internal_package(expected.group);
    format!("converting ({version}.{kind}) to ({package}.{}): unknown conversion", expected.kind)
}

fn not_registered(kind: &str, group: &str, version: &str) -> String {
    let api_version = if group.is_empty() { version.to_string() } else { format!("{group}/{version}") };
    let (kind, api_version) = (quote(kind), quote(&api_version));
    format!("no kind {kind} is registered for version {api_version} in scheme \"pkg/api/legacyscheme/scheme.go:30\"")
}

/// Why an `apiVersion` is none, whatever its kind (`schema.ParseGroupVersion`).
pub fn malformed_version(api_version: &str) -> Option<String> {
    (api_version.matches('/').count() > 1).then(|| format!("unexpected GroupVersion string: {api_version}"))
}

/// Why a body of another kind is refused where only that of the Scale of custom resources is known.
pub fn not_in_scheme(expected: &KindDef) -> String {
    let KindDef { version, kind, .. } = expected;
    format!("no kind is registered for the type {version}.{kind} in scheme \"k8s.io/client-go/scale/util.go:81\"")
}

/// The Go package of upstream's internal types of a group, which a few messages show.
pub fn internal_package(group: &str) -> &str {
    match group {
        "" | "events.k8s.io" => "core",
        group => group.split('.').next().unwrap_or(group),
    }
}
