//! Hand-written validation of endpoint slices that definitions cannot declare
//! (`pkg/apis/discovery/validation`).

use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;

use super::ZONE;
use generated::discovery::v1::Endpoint;

/// Validates `deprecatedTopology`, from which the zone was moved to a field. Hand-written, because a
/// remaining entry is an internal error.
pub fn validate_topology(v: &mut Validation<'_>, path: &Path<'_>, endpoint: &Endpoint, _: Option<&Endpoint>) {
    if endpoint.deprecated_topology.contains_key(ZONE) {
        let path = path.child(json_name!(Endpoint.deprecated_topology));
        v.errors.push(FieldError::internal(&path.key(ZONE), "reserved key was not removed in conversion"));
    }
}
