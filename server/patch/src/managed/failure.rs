//! Why an apply fails.

use machinery::status::Status;

use super::conflict;

/// Why an apply fails.
pub(super) enum ApplyFailure {
    Conflicts(Vec<conflict::Conflict>),
    Status(Status),
}

impl From<Status> for ApplyFailure {
    fn from(status: Status) -> ApplyFailure {
        ApplyFailure::Status(status)
    }
}
