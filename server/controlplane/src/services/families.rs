//! Address families of a service (KEP-563).

use std::net::IpAddr;

use generated::core::v1::ServiceSpec;
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use serving::options::Cidr;

use super::{is_addressed, is_headless};

const SINGLE: &str = "SingleStack";
const PREFER_DUAL: &str = "PreferDualStack";
const REQUIRE_DUAL: &str = "RequireDualStack";

/// The family of an address, as `ipFamilies` names it.
pub fn of(address: IpAddr) -> &'static str {
    if address.is_ipv4() { "IPv4" } else { "IPv6" }
}

/// Fills policy and families (`initIPFamilyFields`); what the service had before is not judged again.
pub fn choose(spec: &mut ServiceSpec, old: Option<&ServiceSpec>, ranges: &[Cidr]) -> Result<(), FieldError> {
    if !is_addressed(spec) {
        return Ok(());
    }
    let configured: Vec<&str> = ranges.iter().map(|range| of(range.base)).collect();
    follow_addresses(spec, &configured)?;
    let path = Path::new("spec");
    if is_headless(spec) && spec.selector.is_empty() {
        // Whoever makes its endpoints decides about families; the cluster's do not matter.
        let first =
            spec.ip_families.first().map_or(configured.first().copied().unwrap_or("IPv4"), |f| f.as_str()).to_string();
        let policy = spec.ip_family_policy.get_or_insert_with(|| REQUIRE_DUAL.into()).clone();
        fill(spec, first, if policy == SINGLE { &[] } else { &["IPv4", "IPv6"] });
        return Ok(());
    }
    let families = path.child("ipFamilies");
    let changed =
        old.is_none_or(|old| old.ip_families != spec.ip_families || old.ip_family_policy != spec.ip_family_policy);
    if changed
        && let Some((i, family)) = spec.ip_families.iter().enumerate().find(|(_, f)| !configured.contains(&f.as_str()))
    {
        return Err(FieldError::invalid(
            &families.index(i),
            BadValue::json_string(family),
            "not configured on this cluster",
        ));
    }
    if spec.ip_family_policy.is_none() {
        let dual = spec.ip_families.len() == 2 || spec.cluster_ips.len() == 2;
        spec.ip_family_policy = Some(if dual { REQUIRE_DUAL } else { SINGLE }.into());
    }
    let policy = spec.ip_family_policy.clone().unwrap_or_default();
    if changed && policy == REQUIRE_DUAL && configured.len() < 2 {
        let why = "this cluster is not configured for dual-stack services";
        return Err(FieldError::invalid(&path.child("ipFamilyPolicy"), BadValue::json_string(&policy), why));
    }
    let first =
        spec.ip_families.first().cloned().or_else(|| configured.first().map(|f| f.to_string())).unwrap_or_default();
    let dual = policy == REQUIRE_DUAL || policy == PREFER_DUAL;
    fill(spec, first, if dual { &configured } else { &[] });
    Ok(())
}

/// Families that are not said are those of the addresses.
fn follow_addresses(spec: &mut ServiceSpec, configured: &[&str]) -> Result<(), FieldError> {
    for (i, text) in spec.cluster_ips.iter().enumerate().skip(spec.ip_families.len()) {
        let Ok(address) = text.parse::<IpAddr>() else { return Ok(()) };
        let family = of(address);
        if !configured.contains(&family) {
            let path = Path::new("spec");
            let path = path.child("clusterIPs");
            let why = format!("{family} is not configured on this cluster");
            return Err(FieldError::invalid(&path.index(i), BadValue::strings(&spec.cluster_ips), why));
        }
        spec.ip_families.push(family.into());
    }
    Ok(())
}

/// The first family, then those of `all` that are missing.
fn fill(spec: &mut ServiceSpec, first: String, all: &[&str]) {
    if spec.ip_families.is_empty() {
        spec.ip_families.push(first);
    }
    for family in all {
        if !spec.ip_families.iter().any(|f| f == family) {
            spec.ip_families.push(family.to_string());
        }
    }
}
