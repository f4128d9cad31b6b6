//! Printed columns and selectable fields of `discovery` that take more than a path: the functions its definitions name with `by_hand`.

pub fn endpoint_slice_endpoints(_: &crate::discovery::v1::EndpointSlice, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn endpoint_slice_ports(_: &crate::discovery::v1::EndpointSlice, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
