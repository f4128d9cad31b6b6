//! The error of this crate.
//!
//! Decoding and budgets have errors of their own. A decoder's error is of one wire format, and its
//! variants are what the codec distinguishes: [`json::Error`](crate::json::Error),
//! [`protobuf::Error`](crate::protobuf::Error), and [`ScalarError`](crate::scalar::ScalarError) for a
//! scalar in either. [`Exceeded`](crate::budget::Exceeded) is the only failure of a charge, and its
//! callers distinguish both variants. [`Status`](crate::status::Status) is an object of the API.

use std::borrow::Cow;

use crate::field_error::{FieldError, aggregate};
use crate::scalar::go_text::quote;

/// Why a text of a request or an option is rejected. The texts are those that clients of upstream see.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A malformed URL, worded as Go's `url.Error`.
    #[error("parse {}: {why}", quote(.url))]
    Url {
        /// The URL.
        url: String,
        /// Go's reason.
        why: Cow<'static, str>,
    },

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

impl Error {
    /// Makes the error of a malformed URL.
    pub(crate) fn url(url: &str) -> impl FnOnce(Cow<'static, str>) -> Self {
        move |why| Error::Url { url: url.to_owned(), why }
    }
}
