//! IP families of a service (KEP-563).

use std::net::IpAddr;

use super::NONE;
use generated::core::v1::{Service, ServiceSpec, ip_family, ip_family_policy, service_type};
use ip_family_policy::{PREFER_DUAL_STACK, REQUIRE_DUAL_STACK, SINGLE_STACK};
use kubernetes::core::service_address_errors;
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::format::ip::parse_ip_sloppy;
use machinery::json_name;
use registry::WriteContext;

/// Returns the family of an address, as in `ipFamilies`.
pub fn of(address: IpAddr) -> &'static str {
    if address.is_ipv4() { ip_family::I_PV4 } else { ip_family::I_PV6 }
}

/// Whether services of this type have cluster IPs.
pub fn is_addressed(spec: &ServiceSpec) -> bool {
    spec.r#type != service_type::EXTERNAL_NAME
}

/// Whether families and addresses are unchanged. A service with `PreferDualStack` does not get a
/// second family when the cluster becomes dual-stack (`isMatchingPreferDualStackClusterIPFields`).
pub fn is_unchanged(spec: &ServiceSpec, old: &ServiceSpec) -> bool {
    let prefers = |spec: &ServiceSpec| spec.ip_family_policy.as_deref() == Some(PREFER_DUAL_STACK);
    spec.r#type == old.r#type
        && is_addressed(spec)
        && prefers(spec)
        && (old.ip_family_policy.is_none() || prefers(old))
        && spec.cluster_ips == old.cluster_ips
        && spec.ip_families == old.ip_families
}

/// Sets policy and families (`initIPFamilyFields`). `configured` are the families of the cluster,
/// default first.
pub fn choose(
    context: &WriteContext,
    spec: &mut ServiceSpec,
    old: Option<&ServiceSpec>,
    configured: &[&'static str],
) -> Vec<FieldError> {
    if !is_addressed(spec) {
        return Vec::new();
    }
    let policy = policy(spec, old);
    spec.ip_family_policy = Some(policy.clone());
    let mut errors = service_address_errors(context, spec, old);
    if !errors.is_empty() {
        return errors;
    }
    if let Some(old) = old {
        shrink(spec, old, &policy, &mut errors);
    }
    check_counts(spec, &policy, &mut errors);
    derive_families(spec, configured, &mut errors);
    let unselected = spec.cluster_ip == NONE && spec.selector.is_empty();
    if errors.is_empty() && !unselected {
        check_cluster(spec, &policy, configured, &mut errors);
    }
    if errors.is_empty() {
        fill(spec, &policy, configured, unselected);
    }
    errors
}

/// Returns the requested policy, else the old one, else the default. Headless services without a
/// selector default to dual stack, because their endpoints are not managed.
fn policy(spec: &ServiceSpec, old: Option<&ServiceSpec>) -> String {
    let requested = spec.ip_family_policy.as_ref().or_else(|| old?.ip_family_policy.as_ref());
    match requested {
        Some(policy) => policy.clone(),
        None if spec.cluster_ip == NONE && spec.selector.is_empty() => REQUIRE_DUAL_STACK.to_owned(),
        None => SINGLE_STACK.to_owned(),
    }
}

fn refuse_policy(policy: &str, why: &'static str) -> FieldError {
    let path = Path::new(json_name!(Service.spec));
    FieldError::invalid(&path.child(json_name!(ServiceSpec.ip_family_policy)), BadValue::json_string(policy), why)
}

/// Reduces to one family: by the policy alone, or by the policy and the lists.
fn shrink(spec: &mut ServiceSpec, old: &ServiceSpec, policy: &str, errors: &mut Vec<FieldError>) {
    if policy == SINGLE_STACK {
        if spec.cluster_ips == old.cluster_ips {
            spec.cluster_ips.truncate(1);
        }
        if spec.ip_families == old.ip_families {
            spec.ip_families.truncate(1);
        }
        return;
    }
    let fewer = |new: &[String], old: &[String]| !new.is_empty() && new.len() < old.len();
    if fewer(&spec.cluster_ips, &old.cluster_ips) {
        errors.push(refuse_policy(policy, "must be 'SingleStack' to release the secondary cluster IP"));
    }
    if fewer(&spec.ip_families, &old.ip_families) {
        errors.push(refuse_policy(policy, "must be 'SingleStack' to release the secondary IP family"));
    }
}

fn check_counts(spec: &ServiceSpec, policy: &str, errors: &mut Vec<FieldError>) {
    if policy != SINGLE_STACK {
        return;
    }
    if spec.cluster_ips.len() == 2 {
        let why = "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified";
        errors.push(refuse_policy(policy, why));
    }
    if spec.ip_families.len() == 2 {
        let why = "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified";
        errors.push(refuse_policy(policy, why));
    }
}

/// Derives missing families from the addresses.
fn derive_families(spec: &mut ServiceSpec, configured: &[&'static str], errors: &mut Vec<FieldError>) {
    let path = Path::new(json_name!(Service.spec));
    let path = path.child(json_name!(ServiceSpec.cluster_ips));
    for (index, text) in spec.cluster_ips.iter().enumerate().take_while(|(_, text)| *text != NONE) {
        if index < spec.ip_families.len() {
            continue;
        }
        let family = parse_ip_sloppy(text).map_or("unknown", of);
        if configured.contains(&family) {
            spec.ip_families.push(family.to_owned());
        } else {
            let why = format!("{family} is not configured on this cluster");
            errors.push(FieldError::invalid(&path.index(index), BadValue::strings(&spec.cluster_ips), why));
        }
    }
}

/// Requires that the cluster supports the requested families.
fn check_cluster(spec: &ServiceSpec, policy: &str, configured: &[&'static str], errors: &mut Vec<FieldError>) {
    if policy == REQUIRE_DUAL_STACK && configured.len() < 2 {
        errors.push(refuse_policy(policy, "this cluster is not configured for dual-stack services"));
    }
    let path = Path::new(json_name!(Service.spec));
    let path = path.child(json_name!(ServiceSpec.ip_families));
    for (index, family) in spec.ip_families.iter().enumerate() {
        if !configured.contains(&family.as_str()) {
            let (path, family) = (path.index(index), BadValue::json_string(family));
            errors.push(FieldError::invalid(&path, family, "not configured on this cluster"));
        }
    }
}

/// Adds the default family if there is none, and the second family if two are requested.
fn fill(spec: &mut ServiceSpec, policy: &str, configured: &[&'static str], unselected: bool) {
    if spec.ip_families.is_empty() {
        spec.ip_families.extend(configured.first().map(|family| (*family).to_owned()));
    }
    if policy == SINGLE_STACK || spec.ip_families.len() != 1 || configured.len() < 2 && !unselected {
        return;
    }
    let other = if spec.ip_families[0] == ip_family::I_PV4 { ip_family::I_PV6 } else { ip_family::I_PV4 };
    spec.ip_families.push(other.to_owned());
}
