//! The controller of definitions: accepts names, establishes and serves definitions, and starts
//! their finalizer. Upstream has a controller with a queue for each of these. Here one task runs
//! them in order and writes their combined result once.
//!
//! Events are processed before they are durable. The result depends only on the stored definition,
//! so a later run computes it again.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use apimachinery::apiextensions::v1::CustomResourceDefinition;
use endpoints::Loopback;
use machinery::status::Status;
use registry::{ChangeKind, ListQuery, Predicate, ResourceStore, WatchEvent};
use storage::cache::Entry;
use tokio::sync::oneshot;

use crate::finalize;
use crate::finalize::{CLEANUP, DEFINITIONS};
use crate::names::Granted;
use crate::serve::Custom;

/// Delay before a watch is restarted.
const RETRY: Duration = Duration::from_secs(1);

/// Starts the controller. Returns when the stored definitions are served. Requires a tokio runtime.
pub async fn start(custom: Arc<Custom>, loopback: Arc<Loopback>) {
    let stores = &custom.stores;
    let Some(store) = stores.get(&(DEFINITIONS.0, DEFINITIONS.2)).cloned() else { return };
    let (synced, is_synced) = oneshot::channel();
    let controller = Controller {
        store,
        custom,
        loopback,
        granted: Granted::default(),
        finalizing: HashSet::new(),
        synced: Some(synced),
    };
    tokio::spawn(controller.run());
    // The task lives as long as the server, so the sender is not dropped before it has sent.
    let _ = is_synced.await;
}

struct Controller {
    store: Arc<ResourceStore>,
    custom: Arc<Custom>,
    loopback: Arc<Loopback>,
    granted: Granted,
    /// Uids of definitions with a running finalizer.
    finalizing: HashSet<String>,
    synced: Option<oneshot::Sender<()>>,
}

impl Controller {
    async fn run(mut self) {
        loop {
            match self.follow().await {
                Err(status) if status.code == 503 => return,
                Err(status) => tracing::warn!(
                    why = status.message,
                    "watch of CustomResourceDefinitions failed; listing them again"
                ),
                Ok(()) => {}
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    async fn follow(&mut self) -> Result<(), Status> {
        let query = ListQuery::default();
        let mut stream = self.store.watch("", &Predicate::default(), &query, true, Some(true)).await?;
        while let Some(event) = stream.next().await {
            match event? {
                WatchEvent::Object(kind, entry) => {
                    let Some(definition) = self.read(&entry)? else { continue };
                    match kind {
                        ChangeKind::Deleted => self.remove(&definition).await,
                        ChangeKind::Added | ChangeKind::Modified => self.sync(definition).await,
                    }
                }
                WatchEvent::InitialEventsEnd(_) => {
                    if let Some(synced) = self.synced.take() {
                        let _ = synced.send(());
                    }
                }
            }
        }
        Ok(())
    }

    fn read(&self, entry: &Entry) -> Result<Option<CustomResourceDefinition>, Status> {
        Ok(self.store.object(entry)?.into_inner().ok())
    }

    async fn remove(&mut self, definition: &CustomResourceDefinition) {
        self.finalizing.remove(&definition.metadata.uid);
        self.granted.remove(&definition.spec.group, &definition.metadata.name);
        self.custom.remove(&definition.metadata.name);
        self.sync_waiting(definition).await;
    }

    async fn sync(&mut self, definition: CustomResourceDefinition) {
        let changed = self.reconcile(&definition).await;
        if definition.metadata.deletion_timestamp.is_some()
            && definition.metadata.finalizers.iter().any(|finalizer| finalizer == CLEANUP)
            && self.finalizing.insert(definition.metadata.uid.clone())
        {
            tokio::spawn(finalize::run(definition.clone(), self.custom.clone(), self.loopback.clone()));
        }
        if changed {
            self.sync_waiting(&definition).await;
        }
    }

    /// Serves a definition according to its status, and updates the status. Returns whether its
    /// names changed.
    async fn reconcile(&mut self, definition: &CustomResourceDefinition) -> bool {
        let mut changed = self.granted.record(definition);
        let mut settled = definition.clone();
        self.granted.update_conditions(&mut settled, self.custom.builder.clock.now());
        if settled.status == definition.status {
            self.custom.update(definition);
            return changed;
        }
        self.custom.update(&settled);
        match self.loopback.update_status(DEFINITIONS, settled).await {
            Ok(stored) => {
                changed |= self.granted.record(&stored);
                self.custom.update(&stored);
            }
            // Another writer changed the definition; its event triggers another sync.
            Err(status) if matches!(status.code, 404 | 409) => {}
            Err(status) => {
                let name = &definition.metadata.name;
                tracing::warn!(name, why = status.message, "cannot update the status of a CustomResourceDefinition");
            }
        }
        changed
    }

    /// Syncs definitions of the group that wait for names, which may be available now.
    async fn sync_waiting(&mut self, definition: &CustomResourceDefinition) {
        for name in self.granted.waiting(&definition.spec.group, &definition.metadata.name) {
            match self.loopback.get::<CustomResourceDefinition>(DEFINITIONS, "", &name).await {
                Ok(Some(waiting)) => drop(self.reconcile(&waiting).await),
                Ok(None) => self.granted.remove(&definition.spec.group, &name),
                Err(status) => tracing::warn!(name, why = status.message, "cannot read a CustomResourceDefinition"),
            }
        }
    }
}
