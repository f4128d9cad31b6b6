//! Hand-written functions that definitions of `networking` name.

pub fn default_network_policy(_: &mut crate::networking::v1::NetworkPolicy) {}
pub fn ingress_address(_: &crate::networking::v1::Ingress, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn ingress_class_name(_: &crate::networking::v1::IngressClass, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn ingress_class_parameters(_: &crate::networking::v1::IngressClass, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn ingress_hosts(_: &crate::networking::v1::Ingress, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn ingress_ports(_: &crate::networking::v1::Ingress, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn ip_address_parent_ref(_: &crate::networking::v1::IPAddress, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn v1beta1_ingress_backend_from_hub(_: &mut crate::networking::v1::IngressBackend, _: &mut crate::networking::v1beta1::IngressBackend) {}
pub fn v1beta1_ingress_backend_to_hub(_: &mut crate::networking::v1beta1::IngressBackend, _: &mut crate::networking::v1::IngressBackend) {}
