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

    /// Two groups declare a feature gate differently.
    #[error("feature gate {0:?} with different spec already exists")]
    GateRedeclared(&'static str),
    /// A feature gate without a value.
    #[error("missing bool value for feature gate {0:?}")]
    GateWithoutValue(String),
    /// A feature gate with a value that is no bool, worded as Go's `strconv.ParseBool`.
    #[error("invalid value of {gate}={value}, err: strconv.ParseBool: parsing {value:?}: invalid syntax")]
    GateValue {
        /// The name of the gate.
        gate: String,
        /// The value.
        value: String,
    },
    /// A feature gate that is unknown.
    #[error("unrecognized feature gate: {0}")]
    UnknownGate(String),
    /// A value of a feature gate that is fixed to the other one.
    #[error("cannot set feature gate {gate} to {value}, feature is locked to {}", !value)]
    LockedGate {
        /// The name of the gate.
        gate: &'static str,
        /// The rejected value.
        value: bool,
    },
    /// A feature that this server does not implement.
    #[error("cannot set feature gate {0} to true, this server does not have the feature")]
    UnimplementedGate(&'static str),

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
