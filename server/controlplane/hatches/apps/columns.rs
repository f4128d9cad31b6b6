//! Printed columns and selectable fields of `apps` that take more than a path: the functions its definitions name with `by_hand`.

pub fn controller_revision_controller(_: &crate::apps::v1::ControllerRevision, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn deployment_ready(_: &crate::apps::v1::Deployment, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn stateful_set_ready(_: &crate::apps::v1::StatefulSet, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
