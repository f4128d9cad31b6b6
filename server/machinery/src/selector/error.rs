//! Why a selector was refused.

use crate::field_error::FieldError;

/// The reason a selector was refused. The texts are the ones a client of upstream sees.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SelectorError {
    /// Text that is not a label selector.
    #[error("{0}")]
    Syntax(String),
    /// A requirement of a label selector in text form.
    #[error("unable to parse requirement: {0}")]
    Requirement(#[source] Box<SelectorError>),
    /// A requirement with a bad key, operator or value.
    #[error("{}", crate::field_error::aggregate(.0))]
    Fields(Vec<FieldError>),
    /// An operator that the API type `LabelSelector` does not have.
    #[error("{} is not a valid label selector operator", crate::scalar::go_text::quote(.0))]
    Operator(String),
    /// A term of a field selector without an operator.
    #[error("invalid selector: '{selector}'; can't understand '{term}'")]
    Term {
        /// The whole selector.
        selector: String,
        /// The term at fault.
        term: String,
    },
    /// A backslash in a field selector's value before something that needs none.
    #[error("invalid field selector: invalid escape sequence: {0}")]
    Escape(String),
    /// A comma or equals sign in a field selector's value that needs a backslash; shown by its number, as upstream does.
    #[error("invalid field selector: unescaped character in value: {}", *.0 as u32)]
    Unescaped(char),
}
