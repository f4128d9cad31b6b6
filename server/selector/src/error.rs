//! The error of this crate.

use scalar::go_text::quote;
use status::field_error::{FieldError, aggregate};

/// Why a selector is rejected. The texts are those that clients of upstream see.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A text that is not a label selector.
    #[error("{0}")]
    LabelSelector(String),
    /// A requirement of a label selector in text form.
    #[error("unable to parse requirement: {0}")]
    Requirement(#[source] Box<Error>),
    /// A requirement with an invalid key, operator or value.
    #[error("{}", aggregate(.0))]
    Fields(Vec<FieldError>),
    /// An operator that the API type `LabelSelector` does not support.
    #[error("{} is not a valid label selector operator", quote(.0))]
    Operator(String),
    /// A term of a field selector without an operator.
    #[error("invalid selector: '{selector}'; can't understand '{term}'")]
    Term {
        /// The whole selector.
        selector: String,
        /// The malformed term.
        term: String,
    },
    /// A backslash in the value of a field selector before a character that needs no escape.
    #[error("invalid field selector: invalid escape sequence: {0}")]
    Escape(String),
    /// A comma or equals sign in the value of a field selector without a backslash; as upstream, it
    /// is shown by its number.
    #[error("invalid field selector: unescaped character in value: {}", *.0 as u32)]
    Unescaped(char),
}
