//! Addresses and networks in fields that were not always checked strictly. By hand: for functions, also of other groups.

use std::collections::HashSet;

use machinery::features;
use machinery::field_path::Path;
use machinery::format::ip;
use machinery::hooks::Validation;

/// An address; `old` ones stay valid (`IsValidIPForLegacyField`).
pub fn validate_legacy_ip(v: &mut Validation<'_>, path: &Path<'_>, text: &str, old: &HashSet<&str>) {
    let is_strict = v.context.enabled(features::StrictIPCIDRValidation);
    v.errors.extend(ip::is_valid_ip_for_legacy_field(path, text, is_strict, old));
}

/// A network; `old` ones stay valid (`IsValidCIDRForLegacyField`).
pub fn validate_legacy_cidr(v: &mut Validation<'_>, path: &Path<'_>, text: &str, old: &HashSet<&str>) {
    let is_strict = v.context.enabled(features::StrictIPCIDRValidation);
    v.errors.extend(ip::is_valid_cidr_for_legacy_field(path, text, is_strict, old));
}
