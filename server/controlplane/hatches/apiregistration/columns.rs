//! Printed columns and selectable fields of `apiregistration` that take more than a path: the functions its definitions name with `by_hand`.

pub fn api_service_available(_: &crate::apiregistration::v1::APIService, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn api_service_service(_: &crate::apiregistration::v1::APIService, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
