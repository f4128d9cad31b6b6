//! Hand-written functions that definitions of `networking` name.

#[path = "networking/columns.rs"]
mod columns;

pub use columns::*;

pub fn default_network_policy(_: &mut crate::networking::v1::NetworkPolicy) {}

pub fn v1beta1_ingress_backend_from_hub(_: &mut crate::networking::v1::IngressBackend, _: &mut crate::networking::v1beta1::IngressBackend) {}

pub fn v1beta1_ingress_backend_to_hub(_: &mut crate::networking::v1beta1::IngressBackend, _: &mut crate::networking::v1::IngressBackend) {}
