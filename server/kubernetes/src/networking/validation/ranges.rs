//! Validation of address ranges: of peers of network policies, and of service CIDRs. Hand-written,
//! because ranges are compared with each other.

use std::collections::HashSet;
use std::net::IpAddr;
use std::rc::Rc;

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::ip::{self, Cidr};
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::reflect::Ref;

use crate::core::internal::internal_value;
use crate::core::validation::addresses::validate_legacy_cidr;
use generated::networking::v1::{IPBlock, NetworkPolicy, NetworkPolicySpec, ServiceCIDR, ServiceCIDRSpec};

const IMMUTABLE: &str = "field is immutable";

/// The ranges of a stored policy, which stay valid anywhere in the updated policy.
#[derive(Clone, Default)]
struct StoredRanges(Rc<HashSet<String>>);

/// Records the ranges of a stored policy.
pub fn keep_ranges(v: &mut Validation<'_>, _: &Path<'_>, _: &NetworkPolicy, old: Option<&NetworkPolicy>) {
    let Some(NetworkPolicySpec { ingress, egress, .. }) = old.map(|old| &old.spec) else { return };
    let peers = ingress.iter().flat_map(|rule| &rule.from).chain(egress.iter().flat_map(|rule| &rule.to));
    let blocks = peers.filter_map(|peer| peer.ip_block.as_deref());
    let ranges = blocks.flat_map(|block| block.except.iter().chain([&block.cidr])).cloned();
    v.keep(StoredRanges(Rc::new(ranges.collect())));
}

/// `ValidateIPBlock`
pub fn validate_block(v: &mut Validation<'_>, path: &Path<'_>, block: &IPBlock, _: Option<&IPBlock>) {
    let StoredRanges(stored) = v.kept().cloned().unwrap_or_default();
    let check = |v: &mut Validation<'_>, path: &Path<'_>, text: &str| {
        if !stored.contains(text) {
            validate_legacy_cidr(v, path, text, &HashSet::new());
        }
        Cidr::parse_sloppy(text)
    };
    let Some(range) = check(v, &path.child(json_name!(IPBlock.cidr)), &block.cidr) else { return };
    let path = path.child(json_name!(IPBlock.except));
    for (index, except) in block.except.iter().enumerate() {
        let path = path.index(index);
        let hole = check(v, &path, except);
        if hole.is_some_and(|hole| !contains(&range, &hole) || range.prefix >= hole.prefix) {
            v.invalid(&path, except, "must be a strict subset of `cidr`");
        }
    }
}

fn contains(range: &Cidr, hole: &Cidr) -> bool {
    let first = Cidr { address: hole.network(), prefix: range.prefix };
    let same_family =
        matches!((range.address, hole.address), (IpAddr::V4(_), IpAddr::V4(_)) | (IpAddr::V6(_), IpAddr::V6(_)));
    same_family && first.network() == range.network()
}

/// `ValidateServiceCIDRUpdate`: only a second family may be added.
pub fn validate_range_update(v: &mut Validation<'_>, path: &Path<'_>, new: &ServiceCIDR, old: Option<&ServiceCIDR>) {
    let Some(old) = old else { return };
    let (path, ranges, stored) = (path.child(json_name!(ServiceCIDR.spec)), &new.spec.cidrs, &old.spec.cidrs);
    let adds = stored.len() == 1 && ranges.len() == 2;
    let at = path.child(json_name!(ServiceCIDRSpec.cidrs));
    if !adds && ranges.len() != stored.len() {
        return v.invalid(&at, BadValue::strings(ranges), IMMUTABLE);
    }
    for (index, (range, _)) in ranges.iter().zip(stored).enumerate().filter(|(_, (new, old))| new != old) {
        v.invalid(&at.index(index), range, IMMUTABLE);
    }
    if adds {
        v.checks(&path, Ref::of(&new.spec), None);
    }
}

/// Checks that there is one range, or one of each family.
pub fn validate_ranges(v: &mut Validation<'_>, path: &Path<'_>, spec: &ServiceCIDRSpec, _: Option<&ServiceCIDRSpec>) {
    let path = path.child(json_name!(ServiceCIDRSpec.cidrs));
    if spec.cidrs.len() > 2 {
        return v.invalid(&path, internal_value(spec), "may only hold up to 2 values");
    }
    for (index, range) in spec.cidrs.iter().enumerate() {
        v.errors.extend(ip::is_valid_cidr(&path.index(index), range));
    }
    let ranges = spec.cidrs.iter().filter_map(|range| Cidr::parse_sloppy(range));
    if let [one, two] = ranges.map(|range| range.address.is_ipv6()).collect::<Vec<_>>()[..]
        && one == two
    {
        let detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
        v.invalid(&path, BadValue::strings(&spec.cidrs), detail);
    }
}
