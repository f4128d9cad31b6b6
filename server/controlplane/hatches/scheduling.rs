//! Hand-written functions that definitions of `scheduling` name.

pub fn pod_group_policy(_: &crate::scheduling::v1alpha2::PodGroup, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn pod_group_status(_: &crate::scheduling::v1alpha2::PodGroup, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
