//! Hand-written functions that definitions of `flowcontrol` name.

pub fn default_v1beta3_priority_level_configuration(_: &mut crate::flowcontrol::v1beta3::PriorityLevelConfiguration) {}
pub fn flow_schema_missing_pl(_: &crate::flowcontrol::v1::FlowSchema, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn v1beta3_priority_level_configuration_from_hub(_: &mut crate::flowcontrol::v1::PriorityLevelConfiguration, _: &mut crate::flowcontrol::v1beta3::PriorityLevelConfiguration) {}
pub fn v1beta3_priority_level_configuration_to_hub(_: &mut crate::flowcontrol::v1beta3::PriorityLevelConfiguration, _: &mut crate::flowcontrol::v1::PriorityLevelConfiguration) {}
