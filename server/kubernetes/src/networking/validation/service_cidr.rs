//! Ranges that services get their addresses from.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::ip::{self, Cidr};
use machinery::hooks::Validation;

use crate::core::internal::internal_value;
use generated::networking::v1::{ServiceCIDR, ServiceCIDRSpec};

const IMMUTABLE: &str = "field is immutable";

/// `ValidateServiceCIDR`, `ValidateServiceCIDRUpdate`: a second family may be added, nothing else changes.
pub fn validate_service_cidr(v: &mut Validation<'_>, _: &Path<'_>, new: &ServiceCIDR, old: Option<&ServiceCIDR>) {
    let path = Path::new("spec");
    let path = path.child("cidrs");
    let Some(old) = old else { return validate_ranges(v, &path, &new.spec) };
    if v.context.subresource == "status" {
        return;
    }
    let (new_ranges, old_ranges) = (&new.spec.cidrs, &old.spec.cidrs);
    let adds = old_ranges.len() == 1 && new_ranges.len() == 2;
    if !adds && new_ranges.len() != old_ranges.len() {
        return v.invalid(&path, BadValue::strings(new_ranges), IMMUTABLE);
    }
    for (index, (new, old)) in new_ranges.iter().zip(old_ranges).enumerate() {
        if new != old {
            v.invalid(&path.index(index), new, IMMUTABLE);
        }
    }
    if adds {
        validate_ranges(v, &path, &new.spec);
    }
}

fn validate_ranges(v: &mut Validation<'_>, path: &Path<'_>, spec: &ServiceCIDRSpec) {
    match spec.cidrs.len() {
        0 => return v.required(path, "at least one CIDR required"),
        1 | 2 => {}
        _ => return v.invalid(path, internal_value(spec), "may only hold up to 2 values"),
    }
    for (index, range) in spec.cidrs.iter().enumerate() {
        v.errors.extend(ip::is_valid_cidr(&path.index(index), range));
    }
    let families: Vec<bool> =
        spec.cidrs.iter().filter_map(|range| Cidr::parse_sloppy(range)).map(|range| range.address.is_ipv6()).collect();
    if let [one, two] = families[..]
        && one == two
    {
        let detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
        v.invalid(path, BadValue::strings(&spec.cidrs), detail);
    }
}
