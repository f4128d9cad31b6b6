//! Errors of strategic merge patches, with upstream's texts (`apimachinery/pkg/util/mergepatch`).

use machinery::status::Status;
use serde_json::{Map, Value};

use crate::go_print;

#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// A malformed directive, which is reported as the client's error.
    #[error("invalid patch format of {0}")]
    Format(&'static str),
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// Any other error; upstream reports it as internal.
    #[error("{0}")]
    Other(String),
}

impl Error {
    pub(super) fn no_merge_key(item: &Map<String, Value>, key: &str) -> Self {
        let item = go_print::plain(&Value::Object(item.clone()));
        Error::Other(format!("map: {item} does not contain declared merge key: {key}"))
    }

    pub(super) fn bad_type(wanted: &str, found: &Value) -> Self {
        Error::Other(format!("expected a {wanted}, but received a {}", go_print::type_name(found)))
    }

    pub(super) fn bad_directive(directive: &Value, object: &Map<String, Value>) -> Self {
        let object = go_print::plain(&Value::Object(object.clone()));
        let directive = match directive {
            Value::String(text) => text.clone(),
            // Go's %s of a value that is not a string.
            other => format!("%!s({}={})", go_print::type_name(other), go_print::plain(other)),
        };
        Error::Other(format!("unknown patch type: {directive} in map: {object}"))
    }

    pub(super) fn not_a_map(index: usize) -> Self {
        Error::Other(format!("value for key {index} is not a map"))
    }
}

impl From<Error> for Status {
    /// `interpretStrategicMergePatchError`
    fn from(error: Error) -> Status {
        match error {
            Error::Format(_) => Status::bad_request(error.to_string()),
            Error::ListOfLists => crate::document::inapplicable(),
            Error::Other(message) => Status::new(500, "", message),
        }
    }
}
