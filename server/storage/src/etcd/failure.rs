//! Classification of failed calls: whether to retry, and the error for callers.

use std::{error::Error as _, sync::Arc};

use tonic::{Code, ConnectError, Status};

use crate::{Error, error::SharedError};

/// The prefix of tonic's error when the channel takes no request (`tonic-build`). The code is
/// `Unknown`, without a source.
const NOT_READY: &str = "Service was not ready: ";

/// Converts an error of etcd-client to a status.
pub(super) fn status(error: etcd_client::Error) -> Status {
    match error {
        etcd_client::Error::GRpcStatus(status) => status,
        // The stream of the watch takes no requests any more.
        etcd_client::Error::WatchError(why) => Status::unavailable(why),
        other => Status::unknown(other.to_string()),
    }
}

/// Returns whether the connection or the cluster failed temporarily, and not the request.
pub(super) fn is_transient(status: &Status) -> bool {
    match status.code() {
        Code::Unavailable => true,
        // tonic's codes for a broken connection.
        Code::Unknown | Code::Internal | Code::Cancelled => status.source().is_some() || was_not_ready(status),
        _ => false,
    }
}

/// Returns whether the request certainly was not sent, because no connection took it.
pub(super) fn was_not_sent(status: &Status) -> bool {
    let mut source = status.source();
    while let Some(error) = source {
        if error.is::<ConnectError>() {
            return true;
        }
        source = error.source();
    }
    was_not_ready(status)
}

fn was_not_ready(status: &Status) -> bool {
    status.code() == Code::Unknown && status.source().is_none() && status.message().starts_with(NOT_READY)
}

pub(super) fn misconfigured(text: String) -> Error {
    Error::backend(Refusal(text))
}

/// An error with etcd's own text.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Refusal(String);

/// Converts a status that callers do not handle specially.
pub(super) fn failure(status: Status) -> Error {
    let mut text = status.message().to_owned();
    let mut source = status.source();
    while let Some(error) = source {
        text = error.to_string();
        source = error.source();
    }
    Error::Backend(SharedError(Arc::new(Refusal(text))))
}
