//! Names of the definitions of the protocol itself, and parts of operation ids.

/// Prefix of the definitions of meta/v1.
pub const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// The definition of a type of meta/v1.
pub fn meta(name: &str) -> String {
    format!("{META}.{name}")
}

/// Body of DELETE. Like [`WATCH_EVENT`], it belongs to every group version.
pub const DELETE_OPTIONS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
/// Response of the `/watch/` paths.
pub const WATCH_EVENT: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent";
/// Body of PATCH.
pub const PATCH: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
/// Response of DELETE.
pub const STATUS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";
/// Metadata of objects.
pub const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
/// Metadata of lists.
pub const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
/// Body and response of `scale`.
pub const SCALE: &str = "io.k8s.api.autoscaling.v1.Scale";
/// Response of `/version`.
pub const VERSION_INFO: &str = "io.k8s.apimachinery.pkg.version.Info";
/// Any Kubernetes object, inside a field.
pub const RAW_EXTENSION: &str = "io.k8s.apimachinery.pkg.runtime.RawExtension";
/// A number with a unit.
pub const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
/// A port number or name.
pub const INT_OR_STRING: &str = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";

/// The part of an operation id for a group version: `CoreV1`, `RbacAuthorizationV1`.
pub(crate) fn group_version_id(group: &str, version: &str) -> String {
    group_id(group) + &title(version)
}

/// The part of an operation id for a group, without the suffix `.k8s.io`.
pub(crate) fn group_id(group: &str) -> String {
    let group = if group.is_empty() { "core" } else { group.strip_suffix(".k8s.io").unwrap_or(group) };
    group.split(|c: char| !c.is_ascii_alphanumeric()).map(title).collect()
}

/// The tag of a group: its id with a lower-case first letter.
pub(crate) fn group_tag(group: &str) -> String {
    let id = group_id(group);
    let mut chars = id.chars();
    chars.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(chars).collect()
}

/// The tag of a group version, such as `core_v1`.
pub(crate) fn group_version_tag(group: &str, version: &str) -> String {
    format!("{}_{version}", group_tag(group))
}

/// Upper-cases the first letter.
pub(crate) fn title(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_tags_of_groups() {
        for (group, id, tag) in [
            ("", "CoreV1", "core_v1"),
            ("apps", "AppsV1", "apps_v1"),
            ("rbac.authorization.k8s.io", "RbacAuthorizationV1", "rbacAuthorization_v1"),
            ("shop.example.com", "ShopExampleComV1", "shopExampleCom_v1"),
        ] {
            assert_eq!((group_version_id(group, "v1").as_str(), group_version_tag(group, "v1").as_str()), (id, tag));
        }
    }
}
