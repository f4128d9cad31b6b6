//! Follows definitions: grants their names, establishes them, serves them, and cleans up behind them. Upstream has a controller with a queue
//! for each of these; here one task does them in order, and writes once what came of all of them. Objects are taken before that is on disk:
//! what it says follows from what is stored, so whoever reads the definition anew comes to the same.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use apimachinery::apiextensions::v1::CustomResourceDefinition;
use endpoints::{Loopback, Resource};
use machinery::status::Status;
use registry::{ChangeKind, ListQuery, Predicate, ResourceStore, WatchEvent};
use storage::cache::Entry;
use tokio::sync::oneshot;

use crate::finalize;
use crate::names::Granted;
use crate::serve::Custom;

/// Where definitions are.
pub const DEFINITIONS: Resource = ("apiextensions.k8s.io", "v1", "customresourcedefinitions");
/// What holds a definition until its objects are gone.
pub const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// How long to wait before a watch that ended is begun anew.
const RETRY: Duration = Duration::from_secs(1);

/// Begins to follow definitions; returns when those that are stored are served. Needs a tokio runtime.
pub async fn start(custom: Arc<Custom>, loopback: Arc<Loopback>) {
    let stores = &custom.environment.stores;
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
    // The task lives as long as the server, so there is always an answer.
    let _ = is_synced.await;
}

struct Controller {
    store: Arc<ResourceStore>,
    custom: Arc<Custom>,
    loopback: Arc<Loopback>,
    granted: Granted,
    /// The uids of definitions whose objects are being deleted.
    finalizing: HashSet<String>,
    synced: Option<oneshot::Sender<()>>,
}

impl Controller {
    async fn run(mut self) {
        loop {
            match self.follow().await {
                Err(status) if status.code == 503 => return,
                Err(status) => tracing::warn!(why = status.message, "following definitions; they are listed again"),
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
                        ChangeKind::Deleted => self.forget(&definition).await,
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

    async fn forget(&mut self, definition: &CustomResourceDefinition) {
        self.finalizing.remove(&definition.metadata.uid);
        self.granted.forget(&definition.spec.group, &definition.metadata.name);
        self.custom.remove(&definition.metadata.name);
        self.sync_waiting(definition).await;
    }

    async fn sync(&mut self, definition: CustomResourceDefinition) {
        let changed = self.settle(&definition).await;
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

    /// Serves a definition by what its status says, and brings the status up to date; whether its names changed.
    async fn settle(&mut self, definition: &CustomResourceDefinition) -> bool {
        let mut changed = self.granted.note(definition);
        let mut settled = definition.clone();
        self.granted.settle(&mut settled);
        if settled.status == definition.status {
            self.custom.update(definition);
            return changed;
        }
        self.custom.update(&settled);
        match self.loopback.update_status(DEFINITIONS, settled).await {
            Ok(stored) => {
                changed |= self.granted.note(&stored);
                self.custom.update(&stored);
            }
            // Whoever was faster brings another event.
            Err(status) if matches!(status.code, 404 | 409) => {}
            Err(status) => {
                let name = &definition.metadata.name;
                tracing::warn!(name, why = status.message, "the status of a definition cannot be written");
            }
        }
        changed
    }

    /// Definitions of the group that wait for names may have them now.
    async fn sync_waiting(&mut self, definition: &CustomResourceDefinition) {
        for name in self.granted.waiting(&definition.spec.group, &definition.metadata.name) {
            match self.loopback.get::<CustomResourceDefinition>(DEFINITIONS, "", &name).await {
                Ok(Some(waiting)) => drop(self.settle(&waiting).await),
                Ok(None) => self.granted.forget(&definition.spec.group, &name),
                Err(status) => tracing::warn!(name, why = status.message, "a definition cannot be read"),
            }
        }
    }
}
