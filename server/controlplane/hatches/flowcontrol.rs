//! Hand-written functions that definitions of `flowcontrol` name.

#[path = "flowcontrol/columns.rs"]
mod columns;

pub use columns::*;

pub fn default_v1beta3_priority_level_configuration(_: &mut crate::flowcontrol::v1beta3::PriorityLevelConfiguration) {}

pub fn v1beta3_priority_level_configuration_from_hub(_: &mut crate::flowcontrol::v1::PriorityLevelConfiguration, _: &mut crate::flowcontrol::v1beta3::PriorityLevelConfiguration) {}

pub fn v1beta3_priority_level_configuration_to_hub(_: &mut crate::flowcontrol::v1beta3::PriorityLevelConfiguration, _: &mut crate::flowcontrol::v1::PriorityLevelConfiguration) {}
