//! Errors of values and requests that have no [`Status`](machinery::status::Status) of their own. A
//! caller chooses the status; the texts are upstream's, because clients see them.

use machinery::scalar::go_text::quote;
use machinery::{json, protobuf};

/// The result type of this crate, for errors that are not a status.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a stored value, or of a value in a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A stored value is not JSON of its kind.
    #[error(transparent)]
    Json(#[from] json::Error),
    /// A stored value is not a protobuf message of its kind.
    #[error(transparent)]
    Protobuf(#[from] protobuf::Error),
    /// A stored value has a version that its kind does not have.
    #[error("no kind {kind:?} is registered for version {api_version:?}")]
    UnknownVersion {
        /// The name of the kind.
        kind: &'static str,
        /// The `apiVersion` of the value.
        api_version: String,
    },
    /// The object of a delete has another `metadata.uid` than its precondition.
    #[error(
        "the UID in the precondition ({wanted}) does not match the UID in record ({found}). \
         The object might have been deleted and then recreated"
    )]
    UidMismatch {
        /// The UID of the precondition.
        wanted: String,
        /// The UID of the object.
        found: String,
    },
    /// The object of a delete has another `metadata.resourceVersion` than its precondition.
    #[error(
        "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record ({found}). \
         The object might have been modified"
    )]
    ResourceVersionMismatch {
        /// The resourceVersion of the precondition.
        wanted: String,
        /// The resourceVersion of the object.
        found: String,
    },
    /// A resourceVersion is not an unsigned number (Go's `strconv.ErrSyntax`).
    #[error("strconv.ParseUint: parsing {}: invalid syntax", quote(text))]
    NotANumber {
        /// The resourceVersion.
        text: String,
    },
    /// A resourceVersion exceeds 64 bits (Go's `strconv.ErrRange`).
    #[error("strconv.ParseUint: parsing {}: value out of range", quote(text))]
    OutOfRange {
        /// The resourceVersion.
        text: String,
    },
}
