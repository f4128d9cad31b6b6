//! Validation of addresses and networks in fields that were not always validated strictly.
//! Hand-written, because functions of other groups use it too.

use std::collections::HashSet;

use machinery::features;
use machinery::field_path::Path;
use machinery::format::ip;
use machinery::hooks::Validation;

/// Validates an address; `old` ones stay valid (`IsValidIPForLegacyField`).
pub fn validate_legacy_ip(v: &mut Validation<'_>, path: &Path<'_>, text: &str, old: &HashSet<&str>) {
    let is_strict = v.context.enabled(features::StrictIPCIDRValidation);
    v.errors.extend(ip::is_valid_ip_for_legacy_field(path, text, is_strict, old));
}

/// Validates a network; `old` ones stay valid (`IsValidCIDRForLegacyField`).
pub fn validate_legacy_cidr(v: &mut Validation<'_>, path: &Path<'_>, text: &str, old: &HashSet<&str>) {
    let is_strict = v.context.enabled(features::StrictIPCIDRValidation);
    v.errors.extend(ip::is_valid_cidr_for_legacy_field(path, text, is_strict, old));
}
