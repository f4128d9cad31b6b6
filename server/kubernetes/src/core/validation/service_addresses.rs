//! Addresses of services and their families.

use std::net::IpAddr;

use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::format::ip::parse_ip_sloppy;
use machinery::hooks::{Context, Validation};
use machinery::reflect::Ref;

use super::addresses::validate_legacy_ip;
use generated::core::v1::{ServiceSpec, ip_family, ip_family_policy, service_type};

/// The address of services that have none.
pub(super) const NONE: &str = "None";
const FAMILIES: [&str; 2] = [ip_family::I_PV4, ip_family::I_PV6];
const MAY_NOT_CHANGE: &str = "may not change once set";

/// `isHeadlessService`
pub(super) fn is_headless(spec: &ServiceSpec) -> bool {
    matches!(spec.cluster_ips.as_slice(), [only] if only == NONE)
}

fn is_alias(spec: &ServiceSpec) -> bool {
    spec.r#type == service_type::EXTERNAL_NAME
}

/// What is wrong with addresses and families, before any are given.
pub fn service_address_errors(context: &Context, spec: &ServiceSpec, old: Option<&ServiceSpec>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let old = old.map(Ref::of);
    Validation::new(context, &mut errors).checks_of("addresses", &Path::new("spec"), Ref::of(spec), old);
    errors
}

/// `clusterIP` is the first of `clusterIPs`. By hand: two fields are compared.
pub fn validate_first_address(v: &mut Validation<'_>, path: &Path<'_>, spec: &ServiceSpec, _: Option<&ServiceSpec>) {
    if spec.cluster_ips.first() != Some(&spec.cluster_ip) {
        let shown = BadValue::strings(&spec.cluster_ips);
        v.invalid(&path.child("clusterIPs"), shown, "first value must match `clusterIP`");
    }
}

/// The rest of `ValidateServiceClusterIPsRelatedFields`. By hand: addresses have families, if they can be read.
pub fn validate_cluster_addresses(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    spec: &ServiceSpec,
    old: Option<&ServiceSpec>,
) {
    let (addresses, before) = (path.child("clusterIPs"), v.errors.len());
    validate_each(v, &addresses, spec, old.map_or(&[], |old| &old.cluster_ips));
    // Malformed addresses have no family.
    let readable = v.errors.len() == before;
    if spec.cluster_ips.len() > 2 {
        v.invalid(&addresses, BadValue::strings(&spec.cluster_ips), "may only hold up to 2 values");
    }
    if readable {
        validate_families_of_addresses(v, &addresses, spec);
    }
}

fn validate_each(v: &mut Validation<'_>, path: &Path<'_>, spec: &ServiceSpec, old: &[String]) {
    let known = old.iter().map(String::as_str).collect();
    for (index, address) in spec.cluster_ips.iter().enumerate() {
        if index > 0 || address != NONE {
            validate_legacy_ip(v, &path.index(index), address, &known);
        } else if spec.cluster_ips.len() > 1 {
            v.invalid(path, BadValue::strings(&spec.cluster_ips), "'None' must be the first and only value");
        }
    }
}

fn validate_families_of_addresses(v: &mut Validation<'_>, path: &Path<'_>, spec: &ServiceSpec) {
    let addresses: Vec<IpAddr> = spec.cluster_ips.iter().filter_map(|address| parse_ip_sloppy(address)).collect();
    let is_v6 = |address: &IpAddr| address.to_canonical().is_ipv6();
    if addresses.len() > 1 && (addresses.iter().all(is_v6) || !addresses.iter().any(is_v6)) {
        let detail = "may specify no more than one IP for each IP family";
        v.invalid(path, BadValue::strings(&spec.cluster_ips), detail);
    }
    for (index, (address, family)) in addresses.iter().zip(&spec.ip_families).enumerate() {
        let wanted = if is_v6(address) { ip_family::I_PV6 } else { ip_family::I_PV4 };
        if FAMILIES.contains(&family.as_str()) && family != wanted {
            let detail = format!("expected an {family} value as indicated by `ipFamilies[{index}]`");
            v.invalid(&path.index(index), &spec.cluster_ips[index], detail);
        }
    }
}

/// `validateUpgradeDowngradeClusterIPs`: a second address comes and goes, the first stays.
pub(super) fn validate_addresses_change(v: &mut Validation<'_>, path: &Path<'_>, new: &ServiceSpec, old: &ServiceSpec) {
    if is_alias(new) || is_alias(old) || is_headless(new) && is_headless(old) {
        return;
    }
    let addresses = path.child("clusterIPs");
    let shown = || BadValue::strings(&new.cluster_ips);
    if new.cluster_ips.len() == old.cluster_ips.len() {
        for index in (0..old.cluster_ips.len()).filter(|&i| new.cluster_ips[i] != old.cluster_ips[i]) {
            v.invalid(&addresses.index(index), shown(), MAY_NOT_CHANGE);
        }
        return;
    }
    let primary = addresses.index(0);
    match (old.cluster_ips.first(), new.cluster_ips.first()) {
        (Some(_), None) => v.invalid(&primary, shown(), "primary clusterIP can not be unset"),
        (Some(before), Some(now)) if before != now => v.invalid(&primary, shown(), MAY_NOT_CHANGE),
        _ => {}
    }
    if old.cluster_ips.len() > new.cluster_ips.len() && new.cluster_ips.len() == 1 {
        validate_release(v, path, new, "must be set to 'SingleStack' when releasing the secondary clusterIP");
    }
}

/// `validateUpgradeDowngradeIPFamilies`, which shows families or addresses as the offending value, and means the first.
pub(super) fn validate_families_change(v: &mut Validation<'_>, path: &Path<'_>, new: &ServiceSpec, old: &ServiceSpec) {
    if is_alias(new) || is_alias(old) || is_headless(new) || is_headless(old) {
        return;
    }
    let families = path.child("ipFamilies");
    let primary = families.index(0);
    let (families, addresses) = (BadValue::strings(&new.ip_families), BadValue::strings(&new.cluster_ips));
    if new.ip_families.len() == old.ip_families.len() {
        let changed = new.ip_families.iter().zip(&old.ip_families).filter(|(new, old)| new != old);
        return changed.for_each(|_| v.invalid(&primary, families.clone(), MAY_NOT_CHANGE));
    }
    let released = old.ip_families.len() > new.ip_families.len();
    if released && new.cluster_ips.is_empty() {
        v.invalid(&primary, families, "primary ipFamily can not be unset");
    }
    if let (Some(before), Some(now)) = (old.ip_families.first(), new.ip_families.first())
        && before != now
    {
        v.invalid(&primary, addresses, MAY_NOT_CHANGE);
    }
    if released && new.ip_families.len() == 1 {
        validate_release(v, path, new, "must be set to 'SingleStack' when releasing the secondary ipFamily");
    }
}

fn validate_release(v: &mut Validation<'_>, path: &Path<'_>, spec: &ServiceSpec, detail: &'static str) {
    let policy = spec.ip_family_policy.as_deref();
    if policy != Some(ip_family_policy::SINGLE_STACK) {
        v.invalid(&path.child("ipFamilyPolicy"), policy.map_or(BadValue::None, BadValue::json_string), detail);
    }
}
