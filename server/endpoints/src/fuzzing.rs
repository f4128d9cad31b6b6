//! Entry points of the fuzz targets in `tests/fuzz`: the predicate of a collection request.

use machinery::status::Status;
use registry::Predicate;
use request::RequestInfo;

/// Returns the predicate that the handlers of list, watch and deletecollection use for a request.
///
/// # Errors
/// Returns 400 when a selector is malformed, or names another object than the path.
pub fn selected(info: &RequestInfo) -> Result<Predicate, Status> {
    crate::verbs::list::authorized_predicate(info)
}
