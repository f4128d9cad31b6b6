//! The definition of a custom resource that is migrated: its condition `StorageMigrating`, and the
//! versions that are stored (`MigrationRunnerController`).
//!
//! The status is written with the version that was read. A change of the definition in between would
//! otherwise be lost, and with it a version that objects are stored in.

use apimachinery::apiextensions::v1::{CustomResourceDefinition, CustomResourceDefinitionCondition};
use endpoints::{GroupVersionResource, Loopback};
use generated::core::v1::condition_status;
use generated::storagemigration::v1beta1::StorageVersionMigration;
use machinery::scalar::Time;
use machinery::status::Status;

const DEFINITIONS: GroupVersionResource = ("apiextensions.k8s.io", "v1", "customresourcedefinitions");
/// Upstream's field manager.
const MANAGER: &str = "migration-runner-controller";
const MIGRATING: &str = "StorageMigrating";

/// Marks the definition of the resource, if it has one.
///
/// # Errors
/// The definition cannot be read or written.
pub async fn begin(loopback: &Loopback, migration: &StorageVersionMigration, now: Time) -> Result<(), Status> {
    let Some(mut definition) = find(loopback, migration).await? else { return Ok(()) };
    let message = format!("Migration {} is running", migration.metadata.name);
    set(&mut definition, (condition_status::TRUE, "MigrationRunning", message), now);
    write(loopback, definition).await
}

/// Marks the definition of the resource, and removes versions that no object is stored in any more.
///
/// # Errors
/// The definition cannot be read or written.
pub async fn end(
    loopback: &Loopback,
    migration: &StorageVersionMigration,
    has_succeeded: bool,
    now: Time,
) -> Result<(), Status> {
    let Some(mut definition) = find(loopback, migration).await? else { return Ok(()) };
    // A definition that changed during the migration may have another storage version.
    let is_same = is_marked(&definition);
    let (reason, message) = match (has_succeeded, is_same) {
        (true, true) => ("MigrationSucceeded", "The migration has succeeded and the stored versions have been updated"),
        (true, false) => (
            "MigrationSucceeded",
            "The migration has succeeded but the stored versions have not been updated due to a generation mismatch",
        ),
        (false, _) => ("MigrationFailed", "The migration has failed"),
    };
    set(&mut definition, (condition_status::FALSE, reason, message.to_owned()), now);
    if has_succeeded && is_same {
        let stored = definition.spec.versions.iter().filter(|version| version.storage);
        definition.status.stored_versions = stored.map(|version| version.name.clone()).collect();
    }
    write(loopback, definition).await
}

async fn find(
    loopback: &Loopback,
    migration: &StorageVersionMigration,
) -> Result<Option<CustomResourceDefinition>, Status> {
    let resource = &migration.spec.resource;
    loopback.get(DEFINITIONS, "", &format!("{}.{}", resource.resource, resource.group)).await
}

/// Whether the definition has not changed since the begin of the migration.
fn is_marked(definition: &CustomResourceDefinition) -> bool {
    let mut conditions = definition.status.conditions.iter();
    let marked = conditions.find(|condition| condition.r#type == MIGRATING);
    marked.is_some_and(|condition| condition.observed_generation == definition.metadata.generation)
}

fn set(definition: &mut CustomResourceDefinition, (status, reason, message): (&str, &str, String), now: Time) {
    let generation = definition.metadata.generation;
    let conditions = &mut definition.status.conditions;
    conditions.retain(|condition| condition.r#type != MIGRATING);
    conditions.push(CustomResourceDefinitionCondition {
        r#type: MIGRATING.into(),
        status: status.into(),
        last_transition_time: now,
        reason: reason.into(),
        message,
        observed_generation: generation,
    });
}

async fn write(loopback: &Loopback, definition: CustomResourceDefinition) -> Result<(), Status> {
    match loopback.managed_by(MANAGER).update_status(DEFINITIONS, definition).await {
        Err(status) if status.code != 404 => Err(status),
        _ => Ok(()),
    }
}
