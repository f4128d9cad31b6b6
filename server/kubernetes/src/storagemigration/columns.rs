//! Printed columns of `storagemigration` that are computed: the functions of `by_hand = ..` in its definitions.

use apimachinery::meta::v1::condition_status;
use machinery::print::{Cell, PrintContext};

use super::{FAILED, RUNNING, SUCCEEDED};
use generated::storagemigration::v1beta1::StorageVersionMigration;

pub fn storage_version_migration_resource(migration: &StorageVersionMigration, _: &PrintContext) -> Cell {
    let resource = &migration.spec.resource;
    if resource.group.is_empty() {
        return resource.resource.as_str().into();
    }
    format!("{}.{}", resource.resource, resource.group).into()
}

pub fn storage_version_migration_status(migration: &StorageVersionMigration, _: &PrintContext) -> Cell {
    let mut happened =
        migration.status.conditions.iter().filter(|c| c.status == condition_status::TRUE).map(|c| c.r#type.as_str());
    happened.rfind(|kind| matches!(*kind, RUNNING | FAILED | SUCCEEDED)).unwrap_or("Unknown").into()
}
