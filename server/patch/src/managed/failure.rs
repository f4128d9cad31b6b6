//! Why an apply fails.

use machinery::status::Status;

use super::conflict;

/// Why an apply fails.
pub(super) enum Failure {
    Conflicts(Vec<conflict::Conflict>),
    Status(Status),
}

impl From<Status> for Failure {
    fn from(status: Status) -> Failure {
        Failure::Status(status)
    }
}
