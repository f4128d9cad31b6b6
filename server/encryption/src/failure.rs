//! Why a value could not be encrypted or decrypted.

use std::collections::HashSet;

use tonic::Code;

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
    pub fn of_call(status: &tonic::Status) -> Self {
        let message = format!("rpc error: code = {} desc = {}", code_name(status.code()), innermost(status));
        Failure { message, code: Some(status.code()) }
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

/// The reason that lies deepest: tonic's own texts only say that something went wrong below.
fn innermost(status: &tonic::Status) -> String {
    let mut text = status.message().to_owned();
    let mut source = std::error::Error::source(status);
    while let Some(error) = source {
        text = error.to_string();
        source = error.source();
    }
    text
}

/// A code as grpc-go spells it.
pub(crate) fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "Canceled",
        Code::Unknown => "Unknown",
        Code::InvalidArgument => "InvalidArgument",
        Code::DeadlineExceeded => "DeadlineExceeded",
        Code::NotFound => "NotFound",
        Code::AlreadyExists => "AlreadyExists",
        Code::PermissionDenied => "PermissionDenied",
        Code::ResourceExhausted => "ResourceExhausted",
        Code::FailedPrecondition => "FailedPrecondition",
        Code::Aborted => "Aborted",
        Code::OutOfRange => "OutOfRange",
        Code::Unimplemented => "Unimplemented",
        Code::Internal => "Internal",
        Code::Unavailable => "Unavailable",
        Code::DataLoss => "DataLoss",
        Code::Unauthenticated => "Unauthenticated",
    }
}
