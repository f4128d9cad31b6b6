//! Printed columns and selectable fields of `flowcontrol` that take more than a path: the functions its definitions name with `by_hand`.

pub fn flow_schema_missing_pl(_: &crate::flowcontrol::v1::FlowSchema, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
