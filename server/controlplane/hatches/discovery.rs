//! Hand-written functions that definitions of `discovery` name.

pub fn endpoint_slice_endpoints(_: &crate::discovery::v1::EndpointSlice, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn endpoint_slice_ports(_: &crate::discovery::v1::EndpointSlice, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn v1beta1_endpoint_from_hub(_: &mut crate::discovery::v1::Endpoint, _: &mut crate::discovery::v1beta1::Endpoint) {}
pub fn v1beta1_endpoint_to_hub(_: &mut crate::discovery::v1beta1::Endpoint, _: &mut crate::discovery::v1::Endpoint) {}
