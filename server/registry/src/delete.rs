//! Delete (`registry.Store.Delete`): grace periods, finalizers, propagation.

use std::sync::Arc;

use machinery::catalog::GarbageCollection;
use machinery::reflect::{Owned, Ref};
use machinery::status::Status;
use storage::cache::Entry;
use storage::{Txn, TxnOutcome};

use crate::metadata::{MetaExt, meta, meta_mut};
use crate::options::{DeleteOptions, Propagation};
use crate::resource::ResourceStore;
use crate::stored;
use crate::strategy::Context;

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

impl ResourceStore {
    /// Deletes an object, or begins to. Answers the object as it was last, and whether it is gone.
    pub async fn delete(
        &self,
        context: &Context,
        name: &str,
        options: &DeleteOptions,
    ) -> Result<(Owned, bool), Status> {
        let key = self.key(&context.namespace, name);
        let mut current = self.current(&key).await?;
        loop {
            let Some(entry) = current else { return Err(Status::not_found(self.name(), name)) };
            let object = self.object(&entry)?;
            self.check_precondition(name, object.as_ref(), options)?;
            let outcome = match self.marked(&object, options) {
                Some(marked) => self.store_marked(&key, &entry, object, marked, options.dry_run).await?,
                None => self.remove(&key, &entry, self.last_state(object, options), options.dry_run).await?,
            };
            match outcome {
                Ok(done) => return Ok(done),
                Err(newer) => current = newer,
            }
        }
    }

    fn check_precondition(&self, name: &str, object: Ref<'_>, options: &DeleteOptions) -> Result<(), Status> {
        let Some(meta) = meta(object) else { return Ok(()) };
        let wanted = &options.precondition;
        if let Some(uid) = wanted.uid.as_ref().filter(|uid| **uid != meta.uid) {
            let why = format!("Precondition failed: UID in precondition: {uid}, UID in object meta: {}", meta.uid);
            return Err(Status::conflict(self.name(), name, why));
        }
        if let Some(version) = wanted.resource_version.as_ref().filter(|v| **v != meta.resource_version) {
            let why = format!(
                "Precondition failed: ResourceVersion in precondition: {version}, ResourceVersion in object meta: {}",
                meta.resource_version
            );
            return Err(Status::conflict(self.name(), name, why));
        }
        Ok(())
    }

    /// The object marked for deletion, when something still holds it: a grace period or finalizers.
    fn marked(&self, object: &Owned, options: &DeleteOptions) -> Option<Owned> {
        let mut marked = object.clone();
        let grace = self.strategy.grace_period(options.grace_period_seconds, object.as_ref());
        let finalizers = self.finalizers(object.as_ref(), options);
        let now = self.clock.now();
        let meta = meta_mut(&mut marked)?;
        let held = !finalizers.is_empty() || grace.is_some_and(|g| g > 0);
        meta.finalizers = finalizers;
        if !held {
            return None;
        }
        let grace = grace.unwrap_or(0);
        let shorter = meta.deletion_grace_period_seconds.is_none_or(|left| grace < left);
        if !meta.is_deleting() || shorter {
            if !meta.is_deleting() && meta.generation > 0 {
                meta.generation += 1;
            }
            let requested = match (meta.deletion_timestamp, meta.deletion_grace_period_seconds) {
                (Some(at), Some(left)) => machinery::scalar::Time::from_unix(at.unix() - left),
                _ => now,
            };
            meta.deletion_timestamp = Some(machinery::scalar::Time::from_unix(requested.unix() + grace));
            meta.deletion_grace_period_seconds = Some(grace);
        }
        Some(marked)
    }

    /// The object as it is shown once it is gone: kinds with grace periods say that they had none left.
    fn last_state(&self, mut object: Owned, options: &DeleteOptions) -> Owned {
        let grace = self.strategy.grace_period(options.grace_period_seconds, object.as_ref());
        let now = self.clock.now();
        if let (Some(grace), Some(meta)) = (grace, meta_mut(&mut object)) {
            if !meta.is_deleting() && meta.generation > 0 {
                meta.generation += 1;
            }
            meta.deletion_timestamp.get_or_insert(now);
            meta.deletion_grace_period_seconds = Some(grace);
        }
        object
    }

    /// The finalizers that the propagation policy asks for (`deletionFinalizersForGarbageCollection`).
    fn finalizers(&self, object: Ref<'_>, options: &DeleteOptions) -> Vec<String> {
        let Some(meta) = meta(object) else { return Vec::new() };
        if self.def.garbage_collection == GarbageCollection::Unsupported {
            return meta.finalizers.clone();
        }
        let has = |name: &str| meta.finalizers.iter().any(|f| f == name);
        let (orphan, foreground) = match options.propagation {
            Some(Propagation::Orphan) => (true, false),
            Some(Propagation::Foreground) => (false, true),
            Some(Propagation::Background) => (false, false),
            None if has(ORPHAN) => (true, false),
            None if has(FOREGROUND) => (false, true),
            None => (self.def.garbage_collection == GarbageCollection::Orphan, false),
        };
        let mut out: Vec<String> =
            meta.finalizers.iter().filter(|f| *f != ORPHAN && *f != FOREGROUND).cloned().collect();
        if orphan {
            out.push(ORPHAN.into());
        }
        if foreground {
            out.push(FOREGROUND.into());
        }
        out
    }

    async fn store_marked(
        &self,
        key: &str,
        entry: &Entry,
        object: Owned,
        mut marked: Owned,
        dry_run: bool,
    ) -> Result<Result<(Owned, bool), Option<Arc<Entry>>>, Status> {
        if dry_run || marked.as_ref() == object.as_ref() {
            return Ok(Ok((marked, false)));
        }
        let value = stored::encode(self.storage_kind, self.def.stored_as_json, marked.clone());
        match self.store.commit(Txn::update(key.to_string(), entry.revision, value)).await.map_err(stored::failure)? {
            TxnOutcome::Committed { revision, .. } => {
                if let Some(meta) = meta_mut(&mut marked) {
                    meta.resource_version = revision.to_string();
                }
                Ok(Ok((marked, false)))
            }
            TxnOutcome::Conflict { current, .. } => Ok(Err(self.newer(current))),
        }
    }

    async fn remove(
        &self,
        key: &str,
        entry: &Entry,
        mut object: Owned,
        dry_run: bool,
    ) -> Result<Result<(Owned, bool), Option<Arc<Entry>>>, Status> {
        if dry_run {
            return Ok(Ok((object, true)));
        }
        match self.store.commit(Txn::delete(key.to_string()).when(entry.revision)).await.map_err(stored::failure)? {
            TxnOutcome::Committed { revision, .. } => {
                if let Some(meta) = meta_mut(&mut object) {
                    meta.resource_version = revision.to_string();
                }
                Ok(Ok((object, true)))
            }
            TxnOutcome::Conflict { current, .. } => Ok(Err(self.newer(current))),
        }
    }
}
