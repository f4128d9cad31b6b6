//! Hand-written validation of roles and bindings that definitions cannot declare
//! (`pkg/apis/rbac/validation`).

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;
use meta::is_valid_selector;

use generated::meta::v1::LabelSelector;
pub use meta::validate_whole_metadata_update;

/// Validates a selector of an aggregated role. Hand-written, because a stored malformed selector is
/// accepted, but has to be usable.
pub fn validate_role_selector(v: &mut Validation<'_>, path: &Path<'_>, new: &LabelSelector, _: Option<&LabelSelector>) {
    v.checks(path, Ref::of(new), None);
    if !is_valid_selector(new) {
        v.invalid(path, BadValue::None, "invalid label selector.");
    }
}
