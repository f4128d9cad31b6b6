//! Why an allocation is refused.

use machinery::field_error::FieldError;
use machinery::status::Status;

/// The reason of a failed allocation.
pub(super) enum AllocationFailure {
    /// The requested address or port is not available.
    Invalid(FieldError),
    /// No address or port is left.
    Exhausted(String),
}

impl AllocationFailure {
    pub(super) fn into_status(self, refuse: impl Fn(&[FieldError]) -> Status) -> Status {
        match self {
            AllocationFailure::Invalid(error) => refuse(&[error]),
            AllocationFailure::Exhausted(why) => Status::internal(why),
        }
    }
}
