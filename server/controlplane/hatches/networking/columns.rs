//! Printed columns and selectable fields of `networking` that take more than a path: the functions its definitions name with `by_hand`.

pub fn ingress_address(_: &crate::networking::v1::Ingress, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn ingress_class_name(_: &crate::networking::v1::IngressClass, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn ingress_class_parameters(_: &crate::networking::v1::IngressClass, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn ingress_hosts(_: &crate::networking::v1::Ingress, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn ingress_ports(_: &crate::networking::v1::Ingress, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn ip_address_parent_ref(_: &crate::networking::v1::IPAddress, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
