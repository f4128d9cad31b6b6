//! Errors of definitions, conversions and stored objects. Their texts are upstream's where upstream
//! has the error, because they become parts of a status.

use endpoints::Incomplete;
use http::uri::InvalidUri;
use machinery::field_error::{FieldError, aggregate};
use machinery::json;

/// The result type of this crate, for errors that are not a status.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a definition, of a conversion, or of a stored object.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The annotation of moved fields is malformed.
    #[error("must be a JSON list of objects from versions to paths: {0}")]
    Moves(#[source] serde_json::Error),
    /// The annotation of conversion expressions is malformed.
    #[error("must be a JSON list of objects with from, to and fields: {0}")]
    Expressions(#[source] serde_json::Error),
    /// A path in an annotation has an empty name, or is one of type or metadata.
    #[error("{path:?} is no path of a field outside of metadata, such as \"spec.size\"")]
    MovedPath { path: String },
    /// An annotation names a version that the definition does not have.
    #[error("there is no version {version}")]
    UnknownVersion { version: String },
    /// Two declarations compute the same version from another.
    #[error("fields from {from} to {to} are specified twice")]
    Twice { from: String, to: String },
    /// A declaration computes a version from itself.
    #[error("from and to are both {version}")]
    SameVersion { version: String },
    /// A conversion expression is invalid.
    #[error("{path:?} from {from} to {to}: {source}")]
    Compile { path: String, from: String, to: String, source: cel::Error },
    /// A conversion expression fails, or its value is not JSON.
    #[error("{path}: {source}")]
    Evaluate { path: String, source: cel::Error },

    /// The path of a field has brackets where none are allowed.
    #[error("array notation is not allowed")]
    Brackets,
    /// The path of a field is incomplete.
    #[error("unexpected end of JSON path")]
    PathEnd,
    /// The path of a field has another token than expected.
    #[error("expected {expected} but got {found}")]
    PathToken { expected: &'static str, found: String },
    /// A name in the path of a field does not follow `[` or `.`.
    #[error("expected [ or . but got: {found}")]
    PathStep { found: String },
    /// The path of a field has a malformed string.
    #[error("invalid string literal: invalid syntax")]
    PathString,
    /// The schema has no field at the path.
    #[error("does not refer to a valid field")]
    NoField,

    /// A conversion webhook is unreachable.
    #[error("Post \"{url}\": {}", .source.cause())]
    Call { url: String, source: webhook::Error },
    /// The URL of a conversion webhook is malformed.
    #[error(transparent)]
    Url(#[from] InvalidUri),
    /// A conversion webhook responds with a status code that is not a success.
    #[error("{why}")]
    Refused { code: u16, why: String },
    /// A conversion webhook responds without a body.
    #[error("0-length response with status code: {code} and content type: {content_type}")]
    Empty { code: u16, content_type: String },
    /// The response of a conversion webhook is not JSON.
    #[error("couldn't get version/kind; json parse error: {0}")]
    Review(#[source] json::Error),
    /// The response of a conversion webhook has another kind.
    #[error(
        "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got {api_version}, Kind={kind}"
    )]
    ReviewKind { api_version: String, kind: String },
    /// The review of a conversion webhook has no response.
    #[error("no response provided")]
    NoResponse,
    /// The response of a conversion webhook is for another request.
    #[error("expected response.uid={expected:?}, got {received:?}")]
    Uid { expected: String, received: String },
    /// A conversion webhook rejects the conversion, and states why.
    #[error("{message}")]
    Rejected { message: String },
    /// A conversion webhook rejects the conversion, and does not state why.
    #[error("response.result.status was '{status}', not 'Success'")]
    NotSuccess { status: String },

    /// A converted object has another version or kind than requested.
    #[error("invalid {what} (expected {expected}, received {received})")]
    ConvertedType { what: &'static str, expected: String, received: String },
    /// A converted object is not the one that was sent.
    #[error("must have the same {name}: {before} != {after}")]
    Identity { name: &'static str, before: String, after: String },
    /// A converted object has no metadata.
    #[error("missing metadata in converted object")]
    NoMetadata,
    /// The metadata of a converted object, or its labels or annotations, are not an object.
    #[error("invalid {path} of type {found} in converted object")]
    MetadataType { path: String, found: &'static str },
    /// A label or annotation of a converted object is not a string.
    #[error("{path} must be a string, but is {found} in converted object")]
    MetadataText { path: String, found: &'static str },
    /// Labels or annotations of a converted object are invalid.
    #[error("{}", aggregate(.0))]
    Metadata(Vec<FieldError>),

    /// A stored object is not JSON of its kind.
    #[error(transparent)]
    Json(#[from] json::Error),
    /// A stored object cannot be completed with its defaults.
    #[error(transparent)]
    Incomplete(#[from] Incomplete),
    /// A value of an object has another type than a path of the definition requires.
    #[error("{path} accessor error: {text} is of the type {found}, expected {wanted}")]
    WrongType { path: String, text: String, found: &'static str, wanted: &'static str },
}
