//! Errors of scalar parsers.

use std::fmt;

/// The reason why a parser rejects the text or JSON of a scalar. The texts are those that clients
/// of upstream see.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScalarError {
    /// Mirrors `resource.ErrFormatWrong`.
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    QuantityFormat,
    /// Mirrors `resource.ErrNumeric`.
    #[error("unable to parse numeric part of quantity")]
    QuantityNumeric,
    /// Mirrors `resource.ErrSuffix`.
    #[error("unable to parse quantity's suffix")]
    QuantitySuffix,
    /// Mirrors Go's `time.ParseError`.
    #[error("{0}")]
    Time(Box<str>),
    /// Mirrors the error of Go's `time.ParseDuration`.
    #[error("{0}")]
    Duration(Box<str>),
    /// A string that is not a percentage where `intstr` expects a number or a percentage.
    #[error("invalid value for IntOrString: {0}")]
    Percent(Box<str>),
    /// JSON of another type than that of the scalar; mirrors Go's `json.UnmarshalTypeError`.
    #[error("json: cannot unmarshal {found} into Go value of type {wanted}")]
    JsonType {
        /// The JSON value: `string`, `bool`, `object`, `array`, `number` or `number 1.5`.
        found: Box<str>,
        /// The Go type that upstream decodes into.
        wanted: &'static str,
    },
    /// Text that is not JSON; mirrors Go's `json.SyntaxError`.
    #[error("{0}")]
    JsonSyntax(Box<str>),
}

impl ScalarError {
    pub(super) fn time(message: fmt::Arguments<'_>) -> Self {
        Self::Time(message.to_string().into_boxed_str())
    }

    pub(super) fn duration(message: fmt::Arguments<'_>) -> Self {
        Self::Duration(message.to_string().into_boxed_str())
    }

    pub(super) fn percent(message: fmt::Arguments<'_>) -> Self {
        Self::Percent(message.to_string().into_boxed_str())
    }

    pub(super) fn syntax(message: fmt::Arguments<'_>) -> Self {
        Self::JsonSyntax(message.to_string().into_boxed_str())
    }
}
