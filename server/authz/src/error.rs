//! The error of this crate.
//!
//! A comparison of rules has its own error, [`Incomparable`](crate::rbac::Incomparable): its callers answer each
//! variant differently, and neither is a mistake in a configuration.

use std::io;
use std::path::PathBuf;

use machinery::field_error::{FieldError, aggregate};
use options::DocumentError;

/// Why a policy file or a configuration of authorizers is unusable, or a match condition fails.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error(transparent)]
    Options(#[from] options::Error),
    /// The content of a policy file is invalid.
    #[error("{}: {source}", path.display())]
    PolicyFile { path: PathBuf, source: Box<Error> },
    /// A line of a policy file is invalid.
    #[error("line {line}: {source}")]
    Line { line: usize, source: Box<Error> },
    /// A line is not JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A policy of an unknown version.
    #[error("unknown version {0:?}")]
    PolicyVersion(String),

    /// The configuration cannot be decoded; the text is upstream's.
    #[error("failed to load AuthorizationConfiguration from file: {0}")]
    Document(#[from] DocumentError),
    /// Fields of the configuration are invalid.
    #[error("{}", aggregate(.0))]
    Fields(Vec<FieldError>),
    /// Authorizers have wrong names, or are missing.
    #[error("{}", if let [one] = .0.as_slice() { one.to_string() } else { format!("[{}]", joined(.0)) })]
    Authorizers(Vec<Error>),
    /// A built-in authorizer does not have the name of its type.
    #[error("expected name {expected} for authorizer {of} instead of {name}")]
    AuthorizerName { expected: String, of: String, name: String },
    /// The configuration lacks authorizers that it had at startup.
    #[error("missing required types: [{}]", .0.join(" "))]
    MissingTypes(Vec<String>),
    /// An authorizer that can be configured only at startup.
    #[error("authorizer type {0} is not allowed if it was not enabled at initial server startup")]
    NotAtStartup(&'static str),
    /// The type of an authorizer is unknown.
    #[error("unknown authorization mode {0} specified")]
    UnknownMode(String),
    /// The client of a webhook cannot be created.
    #[error(transparent)]
    Webhook(#[from] webhook::Error),
    /// The path of a kubeconfig is relative.
    #[error("must be an absolute path")]
    RelativePath,
    /// A kubeconfig cannot be found.
    #[error("error loading file: {0}")]
    FileStatus(#[source] io::Error),
    /// The path of a kubeconfig is that of a directory or a device.
    #[error("must be a regular file")]
    NotAFile,

    /// A match condition does not compile.
    #[error("compilation failed: {0}")]
    Compilation(#[source] cel::Error),
    /// A match condition has another type than bool.
    #[error("must evaluate to bool but got {0}")]
    ConditionType(String),
    /// A match condition fails.
    #[error("cel evaluation error: expression '{expression}' resulted in error: {source}")]
    Evaluation { expression: String, source: cel::Error },
    /// A match condition has a result that is no bool.
    #[error("cel evaluation error: expression '{0}' resulted in error: the result is no bool")]
    NoBool(String),
    /// Match conditions fail, and none is false.
    #[error("{}", joined(.0))]
    Conditions(Vec<Error>),
}

fn joined(errors: &[Error]) -> String {
    errors.iter().map(Error::to_string).collect::<Vec<_>>().join(", ")
}
