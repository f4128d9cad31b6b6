//! Why a document could not be decoded, in the words of Go's `encoding/json`, which clients of upstream see.

use std::fmt;

use crate::budget::{DecodeError, Exceeded};
use crate::scalar::ScalarError;

/// Why a document could not be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is not JSON (Go's `json.SyntaxError`).
    #[error("{0}")]
    Syntax(Box<str>),
    /// A value of another kind than the field's (Go's `json.UnmarshalTypeError`).
    #[error(transparent)]
    Type(Box<TypeError>),
    /// A scalar refused its text.
    #[error("{0}")]
    Scalar(ScalarError),
    /// Bytes that are not base64 (Go's `base64.CorruptInputError`).
    #[error("illegal base64 data at input byte {0}")]
    Base64(usize),
    /// A structured value of a form that its type refuses.
    #[error("{0}")]
    Form(&'static str),
    /// The bytes are not YAML; the text is goyaml's.
    #[error("{0}")]
    Yaml(Box<str>),
    /// The document takes more memory than it may.
    #[error(transparent)]
    TooLarge(#[from] Exceeded),
    /// The bytes are not CBOR.
    #[error("{0}")]
    Cbor(Box<str>),
}

impl DecodeError for Error {
    fn exceeded(&self) -> Option<Exceeded> {
        match self {
            Error::TooLarge(exceeded) => Some(*exceeded),
            _ => None,
        }
    }
}

/// A value of another kind than the field's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct TypeError {
    /// What stands in the document: `string`, `array`, `number 1.5` and the like.
    pub found: Box<str>,
    /// The struct and the dotted path of fields that lead to the place, both empty at the root.
    pub owner: &'static str,
    pub path: Box<str>,
    /// The Go type upstream decodes into.
    pub wanted: Box<str>,
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TypeError { found, owner, path, wanted } = self;
        if owner.is_empty() && path.is_empty() {
            return write!(f, "json: cannot unmarshal {found} into Go value of type {wanted}");
        }
        write!(f, "json: cannot unmarshal {found} into Go struct field {owner}.{path} of type {wanted}")
    }
}
