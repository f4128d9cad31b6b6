//! Errors of configuration documents.

use machinery::json;

/// The reason why a configuration document is rejected; the texts are upstream's.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The text is neither JSON nor YAML, or a field has a value of another type.
    #[error(transparent)]
    Malformed(#[from] json::Error),
    /// The document does not have the form of a map with `apiVersion` and `kind`.
    #[error("couldn't get version/kind; json parse error: {0}")]
    TypeMeta(#[source] json::Error),
    #[error("Object 'Kind' is missing")]
    NoKind,
    #[error("Object 'apiVersion' is missing")]
    NoVersion,
    #[error("no kind {kind:?} is registered for version {api_version:?}")]
    UnknownKind { api_version: String, kind: String },
    /// The document has unknown or duplicate fields; the text lists them.
    #[error("{0}")]
    Strict(String),
    /// The text is not JSON.
    #[error(transparent)]
    Json(serde_json::Error),
    /// A small document has an unknown field, or a field has a value of another type.
    #[error("strict decoding error: {0}")]
    Fields(#[source] serde_json::Error),
}
