//! Errors of values, with upstream's texts, because they become messages of field errors.

use machinery::json;

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An expression does not compile.
    #[error("compilation failed: {0}")]
    Compile(#[from] cel::Error),
    /// An expression has another type than the only one that its field accepts.
    #[error("must evaluate to {wanted} but got {found}")]
    ResultType { wanted: String, found: String },
    /// An expression has none of the types that its field accepts.
    #[error("must evaluate to one of [{}] but got {found}", wanted.join(" "))]
    ResultTypes { wanted: Vec<String>, found: String },
    /// An expression that selects devices has no boolean result.
    #[error("must evaluate to bool or the unknown type, not {found}")]
    DeviceResultType { found: String },
    /// A selector of fields is for a version of pods that does not exist.
    #[error("unsupported pod version: {version}")]
    PodVersion { version: String },
    /// A selector has a key for a field without keys.
    #[error("field label does not support subscript: {label}")]
    Subscript { label: String },
    /// A selector is for a field that it must not select.
    #[error("field label not supported: {label}")]
    FieldLabel { label: String },
    /// An annotation is not JSON.
    #[error("{0}")]
    Syntax(String),
    /// An annotation is JSON of another type.
    #[error(transparent)]
    Json(#[from] json::Error),
}
