//! Why a policy does not evaluate, with upstream's texts, because clients see them.

use machinery::status::Status;

/// Why a policy does not evaluate.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// An expression does not compile, or has another type than required.
    #[error(transparent)]
    Compile(#[from] kubernetes::Error),
    /// The budget of all expressions is used up.
    #[error("validation failed due to running out of cost budget, no further validation rules will be run")]
    Budget,
    #[error("expression '{expression}' resulted in error: {source}")]
    Evaluate { expression: String, source: cel::Error },
    /// Several match conditions fail.
    #[error("[{}]", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Conditions(Vec<PolicyError>),
    #[error("failed to configure binding: {0}")]
    Params(#[from] ParamsError),
    /// The object does not convert to the version that the policy matches.
    #[error("failed to configure policy: failed to convert object version: {0}")]
    NotConverted(#[source] Status),
    /// A mutation does not return JSON.
    #[error("{0}")]
    NotJson(#[source] cel::Error),
    #[error("may not mutate {field}")]
    ServerManaged { field: &'static str },
    /// An object that an expression makes has another name than its path.
    #[error(
        "unexpected type name \"{found}\", expected \"{path}\", which matches field name path from root Object type"
    )]
    TypeName { found: String, path: String },
    #[error("error applying patch: failed to convert patch object to typed object: {0}")]
    Untyped(#[source] patch::Error),
    #[error(
        "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {}",
        paths.join(", ")
    )]
    Atomic { paths: Vec<String> },
    #[error("type mismatch: JSONPatchType.expression should evaluate to array")]
    NotAnArray,
    #[error("JSON Patch: {0}")]
    Patch(#[source] patch::Error),
    /// The mutated object is not one of its kind.
    #[error(transparent)]
    Object(#[from] Status),
}

/// Why the parameters of a binding are not available.
#[derive(Debug, thiserror::Error)]
pub enum ParamsError {
    #[error("failed to find resource referenced by paramKind: '{group}/{version}, Kind={kind}'")]
    UnknownKind { group: String, version: String, kind: String },
    #[error("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")]
    Namespace,
    #[error("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")]
    NoNamespace,
    #[error("no params found for policy binding with `Deny` parameterNotFoundAction")]
    NotFound,
    /// The store fails.
    #[error(transparent)]
    Store(#[from] Status),
}
