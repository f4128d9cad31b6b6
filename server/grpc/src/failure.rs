//! gRPC errors in the format of grpc-go, because clients see them.

use std::error::Error;

use tonic::{Code, Status};

/// The text of an error: `rpc error: code = Unavailable desc = ..`.
pub fn describe(status: &Status) -> String {
    let why = if status.source().is_some() { innermost(status) } else { status.message().to_owned() };
    format!("rpc error: code = {} desc = {why}", code_name(status.code()))
}

/// The innermost source of an error. tonic's outer texts carry no details.
pub(crate) fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// The name of a code in grpc-go's spelling.
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
