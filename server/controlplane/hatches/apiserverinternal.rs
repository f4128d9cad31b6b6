//! Hand-written functions that definitions of `apiserverinternal` name.

pub fn storage_version_storage_versions(_: &crate::apiserverinternal::v1alpha1::StorageVersion, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
