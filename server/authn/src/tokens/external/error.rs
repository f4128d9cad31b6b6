//! Errors of the signer.

use std::fmt::Display;

use grpc::{Status, code_name, describe};

/// An error with upstream's text, and its code in metrics.
#[derive(Debug)]
pub(super) struct SignerError {
    pub(super) message: String,
    pub(super) code: &'static str,
}

impl SignerError {
    /// An error for an unusable response of the signer.
    pub(super) fn new(message: impl Into<String>) -> Self {
        SignerError { message: message.into(), code: "unknown-non-grpc" }
    }

    pub(super) fn of_call(status: &Status) -> Self {
        SignerError { message: describe(status), code: code_name(status.code()) }
    }

    /// Prepends a description of the failed operation.
    pub(super) fn context(self, what: &str) -> Self {
        SignerError { message: format!("{what}: {}", self.message), ..self }
    }
}

impl Display for SignerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}
