//! Printed columns and selectable fields of `storage` that take more than a path: the functions its definitions name with `by_hand`.

pub fn storage_class_allow_volume_expansion(_: &crate::storage::v1::StorageClass, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn storage_class_name(_: &crate::storage::v1::StorageClass, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
