//! Collects the errors of a command line.

use crate::error::{FlagError, FlagErrors};

/// Errors in the order in which they were found.
#[derive(Default)]
pub(super) struct ErrorList(Vec<FlagError>);

impl ErrorList {
    /// Returns the value, or records the error.
    pub(super) fn checked<T>(&mut self, result: Result<T, FlagError>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Records an error, unless there is one with the same text.
    pub(super) fn push(&mut self, error: FlagError) {
        let text = error.to_string();
        if !self.0.iter().any(|known| known.to_string() == text) {
            self.0.push(error);
        }
    }

    /// Returns the value if there were no errors; otherwise the errors.
    pub(super) fn or<T>(self, value: Option<T>) -> Result<T, FlagErrors> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(FlagErrors(self.0)),
        }
    }
}
