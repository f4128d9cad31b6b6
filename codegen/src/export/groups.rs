//! The folder of a group, and how its versions are served.

use crate::model::{Group, KindVersion, Serving};

/// The group's folder in `api-defs/`.
pub(super) fn folder(group: &Group) -> String {
    let folder = group.span.file.parent().and_then(|folder| folder.file_name());
    folder.map_or(group.module.clone(), |name| name.to_string_lossy().into_owned())
}

/// How a version of a kind is served, combined with its group version.
pub(super) fn serving(group: &Group, entry: &KindVersion) -> Serving {
    let of_group = group.versions.iter().find(|version| version.name == entry.version).map(|version| version.serving);
    of_group.unwrap_or_default().max(entry.serving)
}
