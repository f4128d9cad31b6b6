//! What services have only when they are load balancers.

use std::collections::HashSet;

use machinery::field_path::Path;
use machinery::format::field;
use machinery::hooks::Validation;
use machinery::reflect::Ref;

use super::addresses::validate_legacy_ip;
use crate::core::v1::{LoadBalancerIngress, LoadBalancerStatus, ServiceSpec, service_type};

/// `ValidateLoadBalancerStatus`
pub(super) fn validate_balancer_status(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    status: &LoadBalancerStatus,
    old: Option<&LoadBalancerStatus>,
    spec: &ServiceSpec,
) {
    let path = path.child("ingress");
    if spec.r#type != service_type::LOAD_BALANCER && !status.ingress.is_empty() {
        return v.forbidden(&path, "may only be used when `spec.type` is 'LoadBalancer'");
    }
    let known = old.iter().flat_map(|old| &old.ingress).map(|point| point.ip.as_str()).collect();
    for (index, point) in status.ingress.iter().enumerate() {
        validate_point(v, &path.index(index), point, &known);
    }
}

fn validate_point(v: &mut Validation<'_>, path: &Path<'_>, point: &LoadBalancerIngress, known: &HashSet<&str>) {
    if !point.ip.is_empty() {
        validate_legacy_ip(v, &path.child("ip"), &point.ip, known);
    }
    v.checks(path, Ref::of(point), None);
}

/// A DNS name, unless it is empty; shared with the status of ingresses.
pub fn validate_host_name(v: &mut Validation<'_>, path: &Path<'_>, name: &str) {
    if !name.is_empty() {
        v.errors.extend(field::host_name(path, name));
    }
}
