//! Printed columns and selectable fields of `storagemigration` that take more than a path: the functions its definitions name with `by_hand`.

pub fn storage_version_migration_resource(_: &crate::storagemigration::v1beta1::StorageVersionMigration, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }

pub fn storage_version_migration_status(_: &crate::storagemigration::v1beta1::StorageVersionMigration, _: &machinery::print::PrintContext) -> machinery::print::Cell { machinery::print::Cell::Null }
