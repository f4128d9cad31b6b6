//! Media types by purpose.

pub(crate) const ANY: &[&str] = &["*/*"];
pub(crate) const JSON: &[&str] = &["application/json"];
pub(crate) const JWK_SET: &[&str] = &["application/jwk-set+json"];

/// Encodings of objects.
pub(crate) const OBJECT: &[&str] = &["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

/// Documented encodings of custom objects.
pub(crate) const CUSTOM: &[&str] = &["application/json", "application/yaml"];

/// Encodings of lists and of watch events.
pub(crate) const LIST: &[&str] = &[
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf;stream=watch",
];

/// Encodings of text, and of errors in its place.
pub(crate) const TEXT: &[&str] =
    &["text/plain", "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

/// Patch types.
pub(crate) const PATCH: &[&str] = &[
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

/// Patch types of custom resources, which have no strategic merge patch.
pub(crate) const PATCH_CUSTOM: &[&str] =
    &["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];
