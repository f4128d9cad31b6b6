//! `DenyServiceExternalIPs`: nobody takes over addresses that are not the cluster's (CVE-2020-8554).

use endpoints::Attributes;
use generated::core::v1::Service;
use machinery::reflect::Owned;
use machinery::status::Status;

use super::forbidden;

/// Refuses external addresses that are new.
pub fn deny_external_ips(attributes: &Attributes, object: &Owned, old: Option<&Owned>) -> Result<(), Status> {
    let Some(service) = object.downcast_ref::<Service>() else { return Ok(()) };
    let before = old.and_then(Owned::downcast_ref::<Service>).map(|old| old.spec.external_ips.as_slice());
    let is_new = |ip: &String| !before.unwrap_or_default().contains(ip);
    if service.spec.external_ips.iter().any(is_new) {
        return Err(forbidden(attributes, "Use of external IPs is denied by admission control"));
    }
    Ok(())
}
