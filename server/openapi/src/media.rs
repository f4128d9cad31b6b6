//! Media types by use.

pub(crate) const ANY: &[&str] = &["*/*"];
pub(crate) const JSON: &[&str] = &["application/json"];
pub(crate) const JWK_SET: &[&str] = &["application/jwk-set+json"];

/// What objects are written as.
pub(crate) const OBJECT: &[&str] = &["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

/// What custom objects are read and written as, as far as documents say.
pub(crate) const CUSTOM: &[&str] = &["application/json", "application/yaml"];

/// What lists are written as: the answer may be a watch.
pub(crate) const LIST: &[&str] = &[
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf;stream=watch",
];

/// What text is written as, or errors about it.
pub(crate) const TEXT: &[&str] =
    &["text/plain", "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

/// The kinds of patch.
pub(crate) const PATCH: &[&str] = &[
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

/// The kinds of patch of custom resources, which know no patch strategies.
pub(crate) const PATCH_CUSTOM: &[&str] =
    &["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];
