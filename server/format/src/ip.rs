//! IP addresses and CIDRs (upstream: `validation/ip.go`), in the legacy notation and the strict
//! one.

use std::collections::HashSet;

use scalar::go_text::quote;
use status::field_error::FieldError;
use status::field_path::Path;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Parses an address in the legacy notation: octets and groups may have leading zeros (upstream
/// `ParseIPSloppy`).
pub fn parse_ip_sloppy(text: &str) -> Option<IpAddr> {
    match text.bytes().find(|byte| matches!(byte, b'.' | b':'))? {
        b'.' => parse_v4_sloppy(text).map(IpAddr::V4),
        _ => parse_v6_sloppy(text).map(IpAddr::V6),
    }
}

/// A network, with the address that it was written with, which may have bits beyond the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    /// The address.
    pub address: IpAddr,
    /// The length of the prefix.
    pub prefix: u32,
}

impl Cidr {
    /// Parses `address/prefix` in the legacy notation (upstream `ParseCIDRSloppy`).
    pub fn parse_sloppy(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/')?;
        let address = match parse_v4_sloppy(address) {
            Some(address) => IpAddr::V4(address),
            None => IpAddr::V6(parse_v6_sloppy(address)?),
        };
        let prefix = sloppy_number(prefix, 10, 0xff_ffff)?;
        (prefix <= width(address)).then_some(Self { address, prefix })
    }

    /// The network's first address.
    pub fn network(&self) -> IpAddr {
        let host_bits = width(self.address) - self.prefix;
        match self.address {
            IpAddr::V4(address) => {
                IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & u32::MAX.checked_shl(host_bits).unwrap_or(0)))
            }
            IpAddr::V6(address) => {
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & u128::MAX.checked_shl(host_bits).unwrap_or(0)))
            }
        }
    }

    /// The canonical text of the network. A network of IPv4-mapped addresses is shown as IPv4.
    pub fn canonical_network(&self) -> String {
        canonical_cidr(self.network(), self.prefix)
    }
}

fn canonical_cidr(address: IpAddr, prefix: u32) -> String {
    match address {
        IpAddr::V6(v6) if prefix >= 96 && is_mapped(address) => format!("{}/{}", canonical_ip(v6.into()), prefix - 96),
        _ => format!("{address}/{prefix}"),
    }
}

fn width(address: IpAddr) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The canonical text of an address. As in Go, an IPv4-mapped address is shown as IPv4.
pub fn canonical_ip(address: IpAddr) -> String {
    address.to_canonical().to_string()
}

fn sloppy_number(text: &str, radix: u32, max: u32) -> Option<u32> {
    if text.is_empty() {
        return None;
    }
    text.chars().try_fold(0u32, |value, digit| {
        let value = value * radix + digit.to_digit(radix)?;
        (value <= max).then_some(value)
    })
}

fn parse_v4_sloppy(text: &str) -> Option<Ipv4Addr> {
    let mut octets = [0u8; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        *octet = sloppy_number(parts.next()?, 10, 0xff)? as u8;
    }
    parts.next().is_none().then(|| Ipv4Addr::from(octets))
}

/// Parses an IPv6 address after removing leading zeros, which the standard library rejects.
fn parse_v6_sloppy(text: &str) -> Option<Ipv6Addr> {
    let groups = text.split(':').map(|group| {
        if group.contains('.') {
            return parse_v4_sloppy(group).map(|v4| v4.to_string());
        }
        let significant = group.trim_start_matches('0');
        Some(if significant.is_empty() && !group.is_empty() { "0" } else { significant }.to_owned())
    });
    groups.collect::<Option<Vec<_>>>()?.join(":").parse().ok()
}

fn parse_ip(path: &Path<'_>, value: &str, strict: bool) -> Result<IpAddr, Vec<FieldError>> {
    let refuse = |message: &'static str| vec![FieldError::invalid(path, value, message)];
    let Some(address) = parse_ip_sloppy(value) else {
        return Err(refuse("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
    };
    match value.parse::<IpAddr>() {
        _ if !strict => Ok(address),
        Err(_) => Err(refuse("must not have leading 0s")),
        Ok(address) if is_mapped(address) => Err(refuse("must not be an IPv4-mapped IPv6 address")),
        Ok(_) => Ok(address),
    }
}

fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some())
}

/// An address in canonical form (upstream `IsValidIP`).
pub fn is_valid_ip(path: &Path<'_>, value: &str) -> Vec<FieldError> {
    match parse_ip(path, value, true) {
        Ok(address) => refuse_unless_canonical(path, value, &canonical_ip(address)),
        Err(errors) => errors,
    }
}

/// An address in a field that was not always checked strictly. Values of the old object stay valid
/// (upstream `IsValidIPForLegacyField`).
pub fn is_valid_ip_for_legacy_field(
    path: &Path<'_>,
    value: &str,
    strict: bool,
    old: &HashSet<&str>,
) -> Vec<FieldError> {
    if old.contains(value) {
        return Vec::new();
    }
    parse_ip(path, value, strict).err().unwrap_or_default()
}

fn parse_cidr(path: &Path<'_>, value: &str, strict: bool) -> Result<Cidr, Vec<FieldError>> {
    let refuse = |message: &'static str| vec![FieldError::invalid(path, value, message)];
    let Some(cidr) = Cidr::parse_sloppy(value) else {
        return Err(refuse("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"));
    };
    if !strict {
        return Ok(cidr);
    }
    if !is_strict_cidr(value) {
        return Err(refuse("must not have leading 0s in IP or prefix length"));
    }
    if is_mapped(cidr.address) {
        return Err(refuse("must not have an IPv4-mapped IPv6 address"));
    }
    if cidr.address != cidr.network() {
        return Err(refuse("must not have bits set beyond the prefix length"));
    }
    Ok(cidr)
}

/// Whether Go's strict parser accepts a CIDR that the lenient parser accepts.
fn is_strict_cidr(value: &str) -> bool {
    value.split_once('/').is_some_and(|(address, prefix)| {
        address.parse::<IpAddr>().is_ok() && (prefix == "0" || !prefix.starts_with('0'))
    })
}

/// A network in canonical form (upstream `IsValidCIDR`).
pub fn is_valid_cidr(path: &Path<'_>, value: &str) -> Vec<FieldError> {
    match parse_cidr(path, value, true) {
        Ok(cidr) => refuse_unless_canonical(path, value, &cidr.canonical_network()),
        Err(errors) => errors,
    }
}

/// A network in a field that was not always checked strictly (upstream `IsValidCIDRForLegacyField`).
pub fn is_valid_cidr_for_legacy_field(
    path: &Path<'_>,
    value: &str,
    strict: bool,
    old: &HashSet<&str>,
) -> Vec<FieldError> {
    if old.contains(value) {
        return Vec::new();
    }
    parse_cidr(path, value, strict).err().unwrap_or_default()
}

/// An address with the length of its network's prefix, in canonical form (upstream `IsValidInterfaceAddress`).
pub fn interface_address(path: &Path<'_>, value: &str) -> Vec<FieldError> {
    let Some(cidr) = Cidr::parse_sloppy(value) else {
        let message = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)";
        return vec![FieldError::invalid(path, value, message)];
    };
    let shown_as_v4 = cidr.address.is_ipv4() || is_mapped(cidr.address);
    let prefix = i64::from(cidr.prefix);
    let prefix = if shown_as_v4 && prefix > 32 { prefix - 96 } else { prefix };
    refuse_unless_canonical(path, value, &format!("{}/{prefix}", canonical_ip(cidr.address)))
}

fn refuse_unless_canonical(path: &Path<'_>, value: &str, canonical: &str) -> Vec<FieldError> {
    if value == canonical {
        return Vec::new();
    }
    vec![FieldError::invalid(path, value, format!("must be in canonical form ({})", quote(canonical)))]
}

/// Warnings about an address of a legacy field (upstream `GetWarningsForIP`).
pub fn warnings_for_ip(path: &Path<'_>, value: &str) -> Option<String> {
    let sloppy = parse_ip_sloppy(value)?;
    let shown = quote(value);
    match value.parse::<IpAddr>().ok().filter(|address| !is_mapped(*address)) {
        None => {
            let canonical = quote(&canonical_ip(sloppy));
            Some(format!("{path}: non-standard IP address {shown} is invalid: use {canonical}"))
        }
        Some(IpAddr::V6(v6)) if v6.to_string() != value => {
            let canonical = quote(&v6.to_string());
            Some(format!("{path}: IPv6 address {shown} should be in RFC 5952 canonical format ({canonical})"))
        }
        Some(_) => None,
    }
}

/// Warnings about a network of a legacy field (upstream `GetWarningsForCIDR`).
pub fn warnings_for_cidr(path: &Path<'_>, value: &str) -> Vec<String> {
    let Some(cidr) = Cidr::parse_sloppy(value) else { return Vec::new() };
    let (shown, network) = (quote(value), quote(&cidr.canonical_network()));
    let mut warnings = Vec::new();
    if cidr.address != cidr.network() {
        let single = quote(&format!("{}/{}", canonical_ip(cidr.address), width(cidr.address)));
        warnings.push(format!(
            "{path}: CIDR value {shown} is ambiguous in this context (should be {network} or {single}?)"
        ));
    }
    if !is_strict_cidr(value) || is_mapped(cidr.address) {
        warnings.push(format!("{path}: non-standard CIDR value {shown} is invalid: use {network}"));
    }
    let canonical = format!("{}/{}", cidr.address, cidr.prefix);
    if warnings.is_empty() && cidr.address.is_ipv6() && canonical != value {
        let canonical = quote(&canonical);
        warnings.push(format!("{path}: IPv6 CIDR value {shown} should be in RFC 5952 canonical format ({canonical})"));
    }
    warnings
}

/// An address in strict notation (upstream `IsValidIPForLegacyField` with the gate
/// `StrictIPCIDRValidation`).
pub fn ip_address(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    parse_ip(path, text, true).err().unwrap_or_default()
}

/// An address in legacy notation (`IsValidIPForLegacyField` without the gate).
pub fn lenient_ip_address(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    parse_ip(path, text, false).err().unwrap_or_default()
}

/// A network in strict notation (upstream `IsValidCIDRForLegacyField` with the gate
/// `StrictIPCIDRValidation`).
pub fn ip_network(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    parse_cidr(path, text, true).err().unwrap_or_default()
}

/// A network in legacy notation (`IsValidCIDRForLegacyField` without the gate).
pub fn lenient_ip_network(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    parse_cidr(path, text, false).err().unwrap_or_default()
}

/// An IPv4 address. As in Go, an IPv4-mapped address is one.
pub fn ipv4_address(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    match is_ipv6(text) {
        true => vec![FieldError::invalid(path, text, "must be an IPv4 address")],
        false => Vec::new(),
    }
}

/// An IPv6 address.
pub fn ipv6_address(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    match is_ipv6(text) {
        true => Vec::new(),
        false => vec![FieldError::invalid(path, text, "must be an IPv6 address")],
    }
}

fn is_ipv6(text: &str) -> bool {
    parse_ip_sloppy(text).is_some_and(|address| address.to_canonical().is_ipv6())
}

/// An address that endpoints may have (upstream `ValidateEndpointIP`). As upstream, it accepts
/// global multicast.
pub fn endpoint_ip(path: &Path<'_>, text: &str) -> Vec<FieldError> {
    let Some(address) = parse_ip_sloppy(text) else {
        return vec![FieldError::invalid(path, text, "must be a valid IP address")];
    };
    // As in Go, an IPv4-mapped address is an IPv4 address.
    let address = address.to_canonical();
    let mut errors = Vec::new();
    let mut refuse = |is_wrong: bool, detail: &str| {
        if is_wrong {
            errors.push(FieldError::invalid(path, text, detail.to_owned()));
        }
    };
    refuse(address.is_unspecified(), &format!("may not be unspecified ({text})"));
    refuse(address.is_loopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    refuse(is_link_local(address), "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    refuse(is_link_local_multicast(address), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
    errors
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
