//! Printed columns and selectable fields of `resource` that take more than a path: the functions its definitions name with `by_hand`.

pub fn resource_claim_state(_: &crate::resource::v1::ResourceClaim, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn resource_pool_status_request_allocated(_: &crate::resource::v1alpha3::ResourcePoolStatusRequest, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn resource_pool_status_request_available(_: &crate::resource::v1alpha3::ResourcePoolStatusRequest, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn resource_pool_status_request_completed(_: &crate::resource::v1alpha3::ResourcePoolStatusRequest, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn resource_pool_status_request_errors(_: &crate::resource::v1alpha3::ResourcePoolStatusRequest, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn resource_pool_status_request_pools(_: &crate::resource::v1alpha3::ResourcePoolStatusRequest, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn resource_pool_status_request_status(_: &crate::resource::v1alpha3::ResourcePoolStatusRequest, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn resource_pool_status_request_total(_: &crate::resource::v1alpha3::ResourcePoolStatusRequest, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn resource_pool_status_request_unavailable(_: &crate::resource::v1alpha3::ResourcePoolStatusRequest, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
