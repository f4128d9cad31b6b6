//! What a failed call says: whether it may be made again, and the error that callers get.

use std::{error::Error as _, sync::Arc};

use tonic::{Code, ConnectError, Status};

use crate::{Error, error::Source};

/// How a generated client of tonic begins its message when the channel takes no request (`tonic-build`); the code is
/// `Unknown`, without a source.
const NOT_READY: &str = "Service was not ready: ";

/// The status of a call of etcd-client.
pub(super) fn status(error: etcd_client::Error) -> Status {
    match error {
        etcd_client::Error::GRpcStatus(status) => status,
        // The stream of a watch takes no requests any more.
        etcd_client::Error::WatchError(why) => Status::unavailable(why),
        other => Status::unknown(other.to_string()),
    }
}

/// Whether the failure is about the connection or the cluster at this moment, and not about the request.
pub(super) fn is_passing(status: &Status) -> bool {
    match status.code() {
        Code::Unavailable => true,
        // How tonic reports a connection that broke.
        Code::Unknown | Code::Internal | Code::Cancelled => status.source().is_some() || was_not_ready(status),
        _ => false,
    }
}

/// Whether the request certainly was not sent: there was no connection that took it.
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

/// A failure in etcd's own words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Refusal(String);

/// The error of a call that failed for no reason that callers decide by.
pub(super) fn failure(status: Status) -> Error {
    let mut text = status.message().to_owned();
    let mut source = status.source();
    while let Some(error) = source {
        text = error.to_string();
        source = error.source();
    }
    Error::Backend(Source(Arc::new(Refusal(text))))
}
