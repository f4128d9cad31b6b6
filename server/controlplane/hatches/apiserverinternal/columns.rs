//! Printed columns and selectable fields of `apiserverinternal` that take more than a path: the functions its definitions name with `by_hand`.

pub fn storage_version_storage_versions(_: &crate::apiserverinternal::v1alpha1::StorageVersion, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
