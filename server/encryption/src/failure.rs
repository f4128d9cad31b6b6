//! Errors of encryption and decryption.

use std::collections::HashSet;

use grpc::{Code, Status, code_name, describe};

/// An error with upstream's text, which clients see; metrics have its code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TransformFailure {
    message: String,
    /// The gRPC code of a KMS plugin's response, if one was called.
    code: Option<Code>,
}

impl TransformFailure {
    /// Creates an error of this process.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        TransformFailure { message: message.into(), code: None }
    }

    /// Creates the error of a failed call of a plugin.
    pub(crate) fn of_call(status: &Status) -> Self {
        TransformFailure { message: describe(status), code: Some(status.code()) }
    }

    /// Prefixes the error with the failed operation.
    pub(crate) fn during(self, what: &str) -> Self {
        TransformFailure { message: format!("{what}: {}", self.message), ..self }
    }

    /// Merges errors into one, each text once (`utilerrors.Reduce(utilerrors.NewAggregate(..))`);
    /// `None` when there are none.
    pub(crate) fn aggregate(failures: Vec<TransformFailure>) -> Option<Self> {
        let code = failures.iter().find_map(|failure| failure.code);
        let mut seen = HashSet::new();
        let mut messages: Vec<String> = failures.into_iter().map(|failure| failure.message).collect();
        messages.retain(|message| seen.insert(message.clone()));
        let message = match <[String; 1]>::try_from(messages) {
            Ok([only]) => only,
            Err(none) if none.is_empty() => return None,
            Err(several) => format!("[{}]", several.join(", ")),
        };
        Some(TransformFailure { message, code })
    }

    /// Returns the status label of metrics.
    pub(crate) fn status(&self) -> &'static str {
        self.code.map_or("unknown-non-grpc", code_name)
    }
}
