//! Endpoints, as far as no declaration says what holds.

use std::collections::HashSet;

use machinery::field_path::Path;
use machinery::hooks::Validation;

use super::addresses::{validate_endpoint_ip, validate_legacy_ip};
use crate::core::v1::EndpointAddress;

/// By hand: how strict addresses are checked is a gate's.
pub fn validate_address(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    address: &EndpointAddress,
    _: Option<&EndpointAddress>,
) {
    validate_legacy_ip(v, &path.child("ip"), &address.ip, &HashSet::new());
}

/// By hand: ranges of addresses.
pub fn validate_reachable_address(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    address: &EndpointAddress,
    _: Option<&EndpointAddress>,
) {
    validate_endpoint_ip(v, &path.child("ip"), &address.ip);
}
