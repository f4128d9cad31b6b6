//! Addresses and networks in fields that were not always checked strictly.

use std::collections::HashSet;
use std::net::IpAddr;

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

/// An address that packets can be sent to (`ValidateEndpointIP`). Global multicast passes, as upstream lets it.
pub fn validate_endpoint_ip(v: &mut Validation<'_>, path: &Path<'_>, text: &str) {
    let Some(address) = ip::parse_ip_sloppy(text) else {
        return v.invalid(path, text, "must be a valid IP address");
    };
    // To Go an IPv4-mapped address is one of IPv4.
    let address = address.to_canonical();
    if address.is_unspecified() {
        v.invalid(path, text, format!("may not be unspecified ({text})"));
    }
    if address.is_loopback() {
        v.invalid(path, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    if is_link_local(address) {
        v.invalid(path, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    }
    if is_link_local_multicast(address) {
        v.invalid(path, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
    }
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
        IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
    }
}
