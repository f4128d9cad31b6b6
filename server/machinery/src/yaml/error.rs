//! Errors of YAML.

use crate::json::Error;

/// Creates an error with goyaml's prefix.
pub(crate) fn error(text: std::fmt::Arguments<'_>) -> Error {
    Error::Yaml(format!("yaml: {text}").into())
}
