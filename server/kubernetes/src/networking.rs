//! Hand-written functions that definitions of `networking` refer to.

use machinery::scalar::IntOrString;

use generated::networking::v1::{
    IngressBackend, IngressServiceBackend, NetworkPolicy, ServiceBackendPort, policy_type,
};
use generated::networking::v1beta1;

mod columns;
mod strategy;
mod validation;

pub use columns::*;
pub use strategy::*;
pub use validation::*;

/// Mirrors `SetDefaults_NetworkPolicy`.
pub fn default_network_policy(policy: &mut NetworkPolicy) {
    let egress = !policy.spec.egress.is_empty();
    default_policy_types(&mut policy.spec.policy_types, egress);
}

/// Defaults the policy types: ingress, and egress if the policy has egress rules.
pub(super) fn default_policy_types(types: &mut Vec<String>, egress: bool) {
    if types.is_empty() {
        types.push(policy_type::INGRESS.to_owned());
        if egress {
            types.push(policy_type::EGRESS.to_owned());
        }
    }
}

/// The service in the flat fields of older versions; `None` if they are unset.
pub(super) fn backend_service(name: &mut String, port: &mut IntOrString) -> Option<Box<IngressServiceBackend>> {
    if name.is_empty() && *port == IntOrString::Int(0) {
        return None;
    }
    let port = match std::mem::take(port) {
        IntOrString::Int(number) => ServiceBackendPort { number, ..Default::default() },
        IntOrString::String(name) => ServiceBackendPort { name, ..Default::default() },
    };
    Some(Box::new(IngressServiceBackend { name: std::mem::take(name), port }))
}

/// Sets the flat fields of older versions.
pub(super) fn put_backend_service(from: Option<Box<IngressServiceBackend>>, name: &mut String, port: &mut IntOrString) {
    if let Some(service) = from {
        *name = service.name;
        *port = if service.port.name.is_empty() {
            IntOrString::Int(service.port.number)
        } else {
            IntOrString::String(service.port.name)
        };
    }
}

/// Converts `serviceName` and `servicePort` to `service`.
pub fn v1beta1_ingress_backend_to_hub(from: &mut v1beta1::IngressBackend, to: &mut IngressBackend) {
    to.service = backend_service(&mut from.service_name, &mut from.service_port);
}

/// Converts `service` to `serviceName` and `servicePort`.
pub fn v1beta1_ingress_backend_from_hub(from: &mut IngressBackend, to: &mut v1beta1::IngressBackend) {
    put_backend_service(from.service.take(), &mut to.service_name, &mut to.service_port);
}
