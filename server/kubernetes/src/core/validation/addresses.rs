//! Addresses and networks in fields that were not always checked strictly.
//! By hand: sets of stored addresses, for functions of other groups too.

use std::collections::HashSet;

use machinery::features;
use machinery::field_path::Path;
use machinery::format::ip;
use machinery::hooks::Validation;

/// An address; `old` ones stay valid (`IsValidIPForLegacyField`). Tells whether it is one.
pub fn validate_legacy_ip(v: &mut Validation<'_>, path: &Path<'_>, text: &str, old: &HashSet<&str>) -> bool {
    let errors = ip::is_valid_ip_for_legacy_field(path, text, is_strict(v), old);
    let valid = errors.is_empty();
    v.errors.extend(errors);
    valid
}

/// A network; `old` ones stay valid (`IsValidCIDRForLegacyField`).
pub fn validate_legacy_cidr(v: &mut Validation<'_>, path: &Path<'_>, text: &str, old: &HashSet<&str>) {
    let errors = ip::is_valid_cidr_for_legacy_field(path, text, is_strict(v), old);
    v.errors.extend(errors);
}

fn is_strict(v: &Validation<'_>) -> bool {
    v.context.enabled(features::StrictIPCIDRValidation)
}

/// An address that packets can be sent to (`ValidateEndpointIP`).
pub fn validate_endpoint_ip(v: &mut Validation<'_>, path: &Path<'_>, text: &str) {
    v.errors.extend(ip::endpoint_ip(path, text));
}
