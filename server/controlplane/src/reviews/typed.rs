//! The body of a review.

use machinery::reflect::{Owned, Struct};
use machinery::status::Status;

/// Converts an object to its type.
pub fn typed<T: Struct>(object: Owned) -> Result<T, Status> {
    object.into_inner().map_err(|_| Status::internal(format!("not a {}", T::def().name)))
}
