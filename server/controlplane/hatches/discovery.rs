//! Hand-written functions that definitions of `discovery` name.

#[path = "discovery/columns.rs"]
mod columns;

pub use columns::*;

pub fn v1beta1_endpoint_from_hub(_: &mut crate::discovery::v1::Endpoint, _: &mut crate::discovery::v1beta1::Endpoint) {}

pub fn v1beta1_endpoint_to_hub(_: &mut crate::discovery::v1beta1::Endpoint, _: &mut crate::discovery::v1::Endpoint) {}
