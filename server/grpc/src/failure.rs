//! Failures as programs in Go write them, because clients see them.

use std::error::Error;

use tonic::{Code, Status};

/// `rpc error: code = Unavailable desc = ..`
pub fn describe(status: &Status) -> String {
    let why = if status.source().is_some() { innermost(status) } else { status.message().to_owned() };
    format!("rpc error: code = {} desc = {why}", code_name(status.code()))
}

/// The reason that lies deepest: tonic's own texts only say that something went wrong below.
pub(crate) fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// A code as grpc-go spells it.
pub fn code_name(code: Code) -> &'static str {
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
