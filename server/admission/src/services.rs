//! `DenyServiceExternalIPs`: rejects external IP addresses of services (CVE-2020-8554).

use std::collections::HashSet;

use endpoints::AdmissionAttributes;
use generated::core::v1::Service;
use machinery::reflect::Owned;
use machinery::status::Status;

use super::{body, forbidden};

/// Rejects new external addresses.
pub fn deny_external_ips(attributes: &AdmissionAttributes, object: &Owned, old: Option<&Owned>) -> Result<(), Status> {
    let service = body::<Service>(object)?;
    let before = old.and_then(Owned::downcast_ref::<Service>).map(|old| old.spec.external_ips.as_slice());
    let before: HashSet<&String> = before.unwrap_or_default().iter().collect();
    if service.spec.external_ips.iter().any(|ip| !before.contains(ip)) {
        return Err(forbidden(attributes, "Use of external IPs is denied by admission control"));
    }
    Ok(())
}
