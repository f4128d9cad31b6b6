//! Hand-written functions that definitions of `storage` name.

pub fn default_csi_driver(_: &mut crate::storage::v1::CSIDriver) {}
pub fn default_v1beta1_csi_driver(_: &mut crate::storage::v1beta1::CSIDriver) {}
pub fn storage_class_allow_volume_expansion(_: &crate::storage::v1::StorageClass, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
pub fn storage_class_name(_: &crate::storage::v1::StorageClass, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
