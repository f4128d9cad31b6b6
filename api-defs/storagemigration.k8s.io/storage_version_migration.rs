use crate::meta::{Condition, GroupResource, ObjectMeta};

/// Rewrites all stored objects of a resource into its current storage version.
#[kind(
    plural = "storageversionmigrations",
    scope = Cluster,
    unconditional_update = false,
    generation = false,
    gate = StorageVersionMigrator,
    metadata = whole_and_change
)]
#[versions(v1beta1(introduced = "1.35"))]
#[subresource(status)]
#[column("Name", metadata.name)]
#[column("Resource", by_hand = storage_version_migration_resource, reads(spec.resource), "Resource whose objects are rewritten.")]
#[column("Status", by_hand = storage_version_migration_status, reads(status.conditions), "Whether the migration runs, has succeeded or failed.")]
#[check(spec, below, when(not(subresource = status)))]
#[check(spec, immutable, when(not(subresource = status)))]
#[check(status, below, when(update, subresource = status))]
pub struct StorageVersionMigration {
    /// Cluster-wide name and labels of this migration.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Resource to be rewritten; cannot change later.
    #[field(2)]
    pub spec: StorageVersionMigrationSpec,

    /// Progress and outcome of the rewrite.
    #[field(3)]
    pub status: StorageVersionMigrationStatus,
}

/// Selects which resource gets its stored objects migrated.
#[check(resource.resource, required = "resource is required to be set", format = dns1035_label_in_one)]
#[check(resource.group, optional, format = dns1123_subdomain_in_one)]
pub struct StorageVersionMigrationSpec {
    /// Group and plural name of the resource whose objects are rewritten.
    #[field(1, required)]
    pub resource: GroupResource,
}

/// Progress report of a migration.
#[check(resourceVersion, optional, format = resource_version)]
#[check(conditions, below)]
#[check(resourceVersion, immutable, when(was(set(resourceVersion))))]
#[check(self, by_hand = validate_outcome)]
pub struct StorageVersionMigrationStatus {
    /// Observations: `Running`, `Succeeded` or `Failed`.
    #[field(1, list = map(type), patch = merge)]
    pub conditions: Vec<Condition>,

    /// Version the garbage collector cache must reach before the rewrite starts.
    #[field(2)]
    pub resource_version: String,
}
