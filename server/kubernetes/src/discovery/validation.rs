//! What upstream checks in endpoint slices (`pkg/apis/discovery/validation`) and definitions do not say.

use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;

use super::ZONE;
use generated::discovery::v1::Endpoint;

/// The zone has a field of its own. By hand: an entry that is left is an internal error.
pub fn validate_topology(v: &mut Validation<'_>, path: &Path<'_>, endpoint: &Endpoint, _: Option<&Endpoint>) {
    if endpoint.deprecated_topology.contains_key(ZONE) {
        let path = path.child(json_name!(Endpoint.deprecated_topology));
        v.errors.push(FieldError::internal(&path.key(ZONE), "reserved key was not removed in conversion"));
    }
}
