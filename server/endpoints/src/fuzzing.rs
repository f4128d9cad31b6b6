//! Entry points of the fuzz targets in `tests/fuzz`: what a request for a collection selects.

use machinery::status::Status;
use registry::Predicate;
use serving::RequestInfo;

/// What the handlers of list, watch and deletecollection select for a request.
///
/// # Errors
/// 400 when a selector cannot be read, or names another object than the path.
pub fn selected(info: &RequestInfo) -> Result<Predicate, Status> {
    crate::verbs::list::narrowed(info)
}
