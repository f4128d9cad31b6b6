//! Addresses and networks in fields that were not always checked strictly.

use machinery::field_path::Path;
use machinery::format::ip;
use machinery::hooks::Validation;

/// An address; `old` ones stay valid (`IsValidIPForLegacyField`). Tells whether it is one.
pub fn validate_legacy_ip(v: &mut Validation<'_>, path: &Path<'_>, text: &str, old: &[String]) -> bool {
    let old: Vec<&str> = old.iter().map(String::as_str).collect();
    let errors = ip::is_valid_ip_for_legacy_field(path, text, is_strict(v), &old);
    let valid = errors.is_empty();
    v.errors.extend(errors);
    valid
}

fn is_strict(v: &Validation<'_>) -> bool {
    v.context.enabled("StrictIPCIDRValidation")
}
