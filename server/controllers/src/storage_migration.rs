//! Rewrites the objects of a resource in its current storage version (upstream:
//! `pkg/controller/storageversionmigrator`).
//!
//! Upstream has three controllers for this. Here one queue of resources does their work in turn, so
//! that a resource has one migration at a time.

mod definitions;
mod objects;

use std::sync::Arc;

use apimachinery::meta::v1::{Condition, GroupResource};
use endpoints::{Discovery, GroupVersionResource, Loopback};
use generated::core::v1::condition_status;
use generated::storagemigration::v1beta1::StorageVersionMigration;
use machinery::features;
use machinery::status::Status;
use registry::{Clock, ListQuery, Predicate, ResourceStore};

use objects::Outcome;

use crate::client::Client;
use crate::context::Context;
use crate::events::{Event, follow};
use crate::queue::Next;
use crate::resources::{self, ServedResource};

const MIGRATIONS: GroupVersionResource = ("storagemigration.k8s.io", "v1beta1", "storageversionmigrations");
/// Upstream's number of workers.
const WORKERS: usize = 5;
/// How long a resource may be unknown after the creation of a migration, in seconds.
const PATIENCE: i64 = 60;
/// The verbs that a migration uses (`verbsRequiredForMigration`).
const VERBS: [&str; 3] = ["update", "patch", "list"];

const RUNNING: &str = "Running";
const SUCCEEDED: &str = "Succeeded";
const FAILED: &str = "Failed";

/// Group and plural of a resource.
type Key = (String, String);

/// Runs migrations, if the gate is on and migrations are served.
///
/// # Errors
/// The server lacks migrations.
pub async fn run(context: Context) -> Result<(), Status> {
    let environment = &context.server.environment;
    if !environment.options.features.enabled(features::StorageVersionMigrator) || !context.loopback().serves(MIGRATIONS)
    {
        return Ok(());
    }
    let store = context.store(MIGRATIONS.0, MIGRATIONS.2)?;
    let (queue, everything) = (context.queue("storage-version-migrator-controller"), Predicate::default());
    let changes = follow(&store, &everything, |event: Event<StorageVersionMigration>| {
        if let Event::Stored(migration) | Event::Deleted(migration) = event {
            queue.add(key(&migration.spec.resource));
        }
    });
    let migrator = Migrator {
        store: store.clone(),
        loopback: context.loopback(),
        client: context.client(),
        discovery: environment.discovery.clone(),
        clock: environment.backend.clock.clone(),
    };
    let work = queue.work("storage-version-migrator-controller", WORKERS, |resource| migrator.sync(resource));
    tokio::join!(changes, work);
    Ok(())
}

fn key(resource: &GroupResource) -> Key {
    (resource.group.clone(), resource.resource.clone())
}

struct Migrator {
    store: Arc<ResourceStore>,
    loopback: Loopback,
    client: Client,
    discovery: Arc<Discovery>,
    clock: Arc<dyn Clock>,
}

impl Migrator {
    /// Ends the finished migrations of a resource, and runs the oldest of the others.
    async fn sync(&self, resource: Key) -> Result<Next, Status> {
        let mut open = Vec::new();
        for migration in self.migrations(&resource).await? {
            let (is_running, is_over) = (is_true(&migration, RUNNING), is_over(&migration));
            match (is_running, is_over) {
                (true, true) => self.end(migration).await?,
                (_, false) => open.push((!is_running, migration)),
                (false, true) => {}
            }
        }
        let age = |(_, migration): &(bool, StorageVersionMigration)| {
            let metadata = &migration.metadata;
            (metadata.creation_timestamp.unix(), metadata.name.clone())
        };
        open.sort_by_cached_key(|entry| (entry.0, age(entry)));
        // Each write of a status is an event, after which the next step follows.
        match open.into_iter().next() {
            None => Ok(Next::Done),
            Some((true, migration)) => self.begin(migration).await,
            Some((false, migration)) => self.advance(migration).await,
        }
        .or_else(|status| if status.code == 404 { Ok(Next::Done) } else { Err(status) })
    }

    async fn migrations(&self, resource: &Key) -> Result<Vec<StorageVersionMigration>, Status> {
        let query = ListQuery { resource_version: "0".into(), ..ListQuery::default() };
        let mut found = Vec::new();
        for entry in self.store.list("", &Predicate::default(), &query).await?.entries {
            let Ok(migration) = self.store.object(&entry)?.into_inner::<StorageVersionMigration>() else { continue };
            if key(&migration.spec.resource) == *resource {
                found.push(migration);
            }
        }
        Ok(found)
    }

    /// Marks a migration as running (`markAsActive`).
    async fn begin(&self, mut migration: StorageVersionMigration) -> Result<Next, Status> {
        definitions::begin(&self.loopback, &migration, self.clock.now()).await?;
        self.set(&mut migration, RUNNING, "MigrationRunning", "The migration is running".into());
        self.write(migration).await
    }

    /// Marks a migration that is over as not running (`cleanupAdmission`).
    async fn end(&self, mut migration: StorageVersionMigration) -> Result<(), Status> {
        let has_succeeded = is_true(&migration, SUCCEEDED);
        definitions::end(&self.loopback, &migration, has_succeeded, self.clock.now()).await?;
        let (generation, now) = (migration.metadata.generation, self.clock.now());
        for condition in migration.status.conditions.iter_mut().filter(|condition| condition.r#type == RUNNING) {
            condition.status = condition_status::FALSE.into();
            condition.last_transition_time = now;
            condition.observed_generation = generation;
            (condition.reason, condition.message) = ("MigrationCompleted".into(), "Migration completed".into());
        }
        self.write(migration).await.map(drop)
    }

    /// Records the version up to which objects are rewritten, or rewrites them.
    async fn advance(&self, mut migration: StorageVersionMigration) -> Result<Next, Status> {
        let Some(resource) = self.resource(&migration)? else {
            if self.clock.now().unix() - migration.metadata.creation_timestamp.unix() < PATIENCE {
                return Err(Status::internal("the resource of a migration is not served"));
            }
            return self.fail(migration, "resource does not exist in discovery".into()).await;
        };
        if !VERBS.iter().all(|verb| resource.has_verb(verb)) {
            let name = format!("{}/{}, Resource={}", resource.group, resource.version, resource.plural);
            let why = format!("resource {name:?} does not support discovery operations: [{}]", VERBS.join(" "));
            return self.fail(migration, why).await;
        }
        if migration.status.resource_version.is_empty() {
            migration.status.resource_version = objects::latest_version(&self.client, &resource).await?;
            return self.write(migration).await;
        }
        match objects::rewrite(&self.client, &resource, &migration.status.resource_version).await? {
            Outcome::Failed(why) => self.fail(migration, format!("migration encountered unhandled error: {why}")).await,
            Outcome::Succeeded => {
                self.set(&mut migration, SUCCEEDED, "StorageVersionMigrationSucceeded", String::new());
                self.write(migration).await
            }
        }
    }

    /// The resource of a migration in its preferred version; `None` if it is not served.
    fn resource(&self, migration: &StorageVersionMigration) -> Result<Option<ServedResource>, Status> {
        let wanted = &migration.spec.resource;
        let served = resources::served(&self.discovery)?.resources.into_iter();
        let mut served = served.filter(|one| one.group == wanted.group && one.plural == wanted.resource);
        Ok(served.next())
    }

    async fn fail(&self, mut migration: StorageVersionMigration, why: String) -> Result<Next, Status> {
        self.set(&mut migration, FAILED, "StorageVersionMigrationFailed", why);
        self.write(migration).await
    }

    /// Adds a condition, unless the migration has it (`setStatusConditions`).
    fn set(&self, migration: &mut StorageVersionMigration, kind: &str, reason: &str, message: String) {
        let conditions = &mut migration.status.conditions;
        if conditions.iter().all(|condition| condition.r#type != kind) {
            conditions.push(Condition {
                r#type: kind.into(),
                status: condition_status::TRUE.into(),
                last_transition_time: self.clock.now(),
                reason: reason.into(),
                message,
                ..Condition::default()
            });
        }
    }

    async fn write(&self, migration: StorageVersionMigration) -> Result<Next, Status> {
        self.loopback.update_status(MIGRATIONS, migration).await.map(|_| Next::Done)
    }
}

fn is_true(migration: &StorageVersionMigration, kind: &str) -> bool {
    let mut conditions = migration.status.conditions.iter();
    conditions.any(|condition| condition.r#type == kind && condition.status == condition_status::TRUE)
}

fn is_over(migration: &StorageVersionMigration) -> bool {
    is_true(migration, SUCCEEDED) || is_true(migration, FAILED)
}
