//! Hand-written functions that definitions of `apiregistration` name.

pub fn api_service_available(_: &crate::apiregistration::v1::APIService, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn api_service_service(_: &crate::apiregistration::v1::APIService, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
