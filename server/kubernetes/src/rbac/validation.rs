//! What upstream checks in roles and bindings (`pkg/apis/rbac/validation`) and definitions do not say.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::reflect::Ref;
use meta::is_valid_selector;

use generated::meta::v1::LabelSelector;
pub use meta::validate_whole_metadata_update;

/// A selector of an aggregated role. By hand: one that is stored may be malformed, and yet has to be usable.
pub fn validate_role_selector(v: &mut Validation<'_>, path: &Path<'_>, new: &LabelSelector, _: Option<&LabelSelector>) {
    v.checks(path, Ref::of(new), None);
    if !is_valid_selector(new) {
        v.invalid(path, BadValue::None, "invalid label selector.");
    }
}
