//! Printed columns and selectable fields of `scheduling` that take more than a path: the functions its definitions name with `by_hand`.

pub fn pod_group_policy(_: &crate::scheduling::v1alpha2::PodGroup, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn pod_group_status(_: &crate::scheduling::v1alpha2::PodGroup, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
