//! Decoding errors in the words of Go's `encoding/json`, which clients of upstream see.

use std::fmt;

use crate::budget::{DecodeError, Exceeded};
use crate::scalar::ScalarError;

/// The reason of a failed decoding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is not JSON (Go's `json.SyntaxError`).
    #[error("{0}")]
    Syntax(Box<str>),
    /// A value of another JSON type than that of the field (Go's `json.UnmarshalTypeError`).
    #[error("{0}")]
    Type(Box<TypeError>),
    /// The parser of a scalar rejected the value.
    #[error("{0}")]
    Scalar(ScalarError),
    /// Bytes that are not base64 (Go's `base64.CorruptInputError`).
    #[error("illegal base64 data at input byte {0}")]
    Base64(usize),
    /// A structured value that its type rejects.
    #[error("{0}")]
    Form(&'static str),
    /// The bytes are not YAML; the text is that of goyaml.
    #[error("{0}")]
    Yaml(Box<str>),
    /// The document exceeds a memory budget.
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

/// A value of another JSON type than that of the field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeError {
    /// The JSON value: `string`, `array`, `number 1.5` and so on.
    pub found: Box<str>,
    /// Go's name of the struct that has the field; empty at the root.
    pub owner: &'static str,
    /// Dotted path of the field; empty at the root.
    pub path: Box<str>,
    /// The Go type that upstream decodes into.
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
