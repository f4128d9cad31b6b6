//! Hand-written functions that definitions of `storage` name.

#[path = "storage/columns.rs"]
mod columns;

pub use columns::*;

pub fn default_csi_driver(_: &mut crate::storage::v1::CSIDriver) {}

pub fn default_v1beta1_csi_driver(_: &mut crate::storage::v1beta1::CSIDriver) {}
