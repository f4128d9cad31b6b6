//! When versions are deprecated and removed.

use machinery::catalog::KindDef;

/// The minor version of the served Kubernetes release.
pub(super) const MINOR: u32 = 36;

/// Number of releases until a preview is deprecated, and from then until it is removed.
pub(super) const STAGE: u32 = 3;

/// Parses the minor version of a release; nothing if it is not declared.
pub(super) fn minor(release: &str) -> Option<u32> {
    release.rsplit('.').next().and_then(|minor| minor.parse().ok())
}

pub(super) fn is_preview(kind: &KindDef) -> bool {
    kind.version.contains("alpha") || kind.version.contains("beta")
}

/// The release that deprecates a version: the declared one, or for a preview `STAGE` releases after
/// its introduction.
pub(super) fn deprecation(kind: &KindDef) -> Option<u32> {
    let later = || minor(kind.lifecycle.introduced).filter(|_| is_preview(kind)).map(|minor| minor + STAGE);
    minor(kind.lifecycle.deprecated).or_else(later)
}

/// The release that removes a deprecated version: the declared one, or for a preview `STAGE`
/// releases after its deprecation. A stable version is not removed.
pub(super) fn removal(kind: &KindDef, deprecated: u32) -> Option<u32> {
    minor(kind.lifecycle.removed).or_else(|| is_preview(kind).then_some(deprecated + STAGE))
}
