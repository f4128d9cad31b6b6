//! Why a value could not be encrypted or decrypted.

use std::collections::HashSet;

use grpc::{Code, Status, code_name, describe};

/// A failure in upstream's words, which clients see; metrics see its code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    message: String,
    /// What a KMS plugin answered, where one was asked.
    code: Option<Code>,
}

impl Failure {
    /// A failure in this process.
    pub fn new(message: impl Into<String>) -> Self {
        Failure { message: message.into(), code: None }
    }

    /// A failed call of a plugin.
    pub fn of_call(status: &Status) -> Self {
        Failure { message: describe(status), code: Some(status.code()) }
    }

    /// Says what was being done.
    pub fn during(self, what: &str) -> Self {
        Failure { message: format!("{what}: {}", self.message), ..self }
    }

    /// All of some failures as one, each text once (`utilerrors.Reduce(utilerrors.NewAggregate(..))`); `None` when there are none.
    pub fn aggregate(failures: Vec<Failure>) -> Option<Self> {
        let code = failures.iter().find_map(|failure| failure.code);
        let mut seen = HashSet::new();
        let mut messages: Vec<String> = failures.into_iter().map(|failure| failure.message).collect();
        messages.retain(|message| seen.insert(message.clone()));
        let message = match <[String; 1]>::try_from(messages) {
            Ok([only]) => only,
            Err(none) if none.is_empty() => return None,
            Err(several) => format!("[{}]", several.join(", ")),
        };
        Some(Failure { message, code })
    }

    /// What metrics call it.
    pub fn status(&self) -> &'static str {
        self.code.map_or("unknown-non-grpc", code_name)
    }
}
