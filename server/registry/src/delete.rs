//! Delete (`registry.Store.Delete`, `rest.BeforeDelete`): grace periods, finalizers, propagation.

use std::sync::Arc;

use async_trait::async_trait;
use machinery::catalog::GarbageCollection;
use machinery::hooks::Propagation;
use machinery::reflect::Owned;
use machinery::scalar::Time;
use machinery::status::Status;
use storage::cache::Entry;
use storage::{Txn, TxnOutcome};

use crate::metadata::{MetaExt, meta, meta_mut};
use crate::options::DeleteOptions;
use crate::resource::ResourceStore;
use crate::strategy::WriteContext;
use crate::write_hook::WriteOutcome;

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// The result of a delete.
pub struct Deleted {
    /// The last state of the object.
    pub object: Owned,
    /// Whether the object is removed, and not just marked.
    pub gone: bool,
    /// Whether the response is this object even where deletes return a `Status`.
    pub is_answer: bool,
}

/// Decides whether an object may be deleted: admission.
#[async_trait]
pub trait CheckDelete: Send + Sync {
    /// Checks the stored object; called again after a conflict with another writer.
    ///
    /// # Errors
    /// The Status that rejects the delete.
    async fn check(&self, current: &Owned) -> Result<(), Status>;
}

/// The action of a delete.
enum Step {
    /// The object is already being deleted, and the request does not change that.
    Nothing,
    /// Mark the object; it is removed when its grace period ends or its finalizers are gone.
    Mark(Owned),
    /// Mark the object with a grace period of 0, then remove it.
    MarkAndRemove(Owned),
    Remove,
    /// Remove the object; this request drops the garbage collector's finalizers that blocked it.
    Release,
}

impl ResourceStore {
    /// Deletes an object, or starts its graceful deletion (`registry.Store.Delete`).
    ///
    /// # Errors
    /// Besides those of each call:
    /// - 400 for a name that no object can have;
    /// - 404 when there is no such object;
    /// - 409 when the object violates the precondition;
    /// - the errors of `check`.
    pub async fn delete(
        &self,
        context: &WriteContext,
        name: &str,
        options: &DeleteOptions,
        check: &dyn CheckDelete,
    ) -> Result<Deleted, Status> {
        self.check_key(&context.namespace, name)?;
        let key = self.key(&context.namespace, name);
        let mut current = self.current(&key).await?;
        loop {
            let Some(entry) = current else { return Err(Status::not_found(self.name_in(context), name)) };
            let object = self.object(&*self.in_version(entry.clone()).await?)?;
            self.check_precondition(context, name, &object, options)?;
            check.check(&object).await?;
            let written = &mut WriteOutcome::default();
            let outcome = match self.next_step(context, &object, options) {
                Step::Nothing => return Ok(Deleted { object, gone: false, is_answer: false }),
                Step::Release if options.dry_run => {
                    // Upstream returns the empty object that it would decode the stored one into.
                    return Ok(Deleted { object: Owned::new(object.def()), gone: true, is_answer: true });
                }
                Step::Release if options.precondition.resource_version.is_some() => {
                    // Upstream compares the precondition with that empty object, which has no version.
                    let is = meta(object.as_ref()).map_or("", |meta| &meta.resource_version);
                    return Err(self.precondition_failed(context, name, false, "ResourceVersion", "", is));
                }
                Step::Mark(marked) => {
                    self.put(&key, &entry, marked, options.dry_run, written).await?.map(|object| (object, false))
                }
                Step::MarkAndRemove(marked) => match self.put(&key, &entry, marked, options.dry_run, written).await? {
                    Ok(marked) => {
                        self.remove(&key, marked, options.dry_run, written).await?.map(|object| (object, true))
                    }
                    Err(newer) => Err(newer),
                },
                Step::Remove | Step::Release => {
                    self.remove(&key, object, options.dry_run, written).await?.map(|object| (object, true))
                }
            };
            match outcome {
                Ok((object, gone)) => return Ok(Deleted { object, gone, is_answer: false }),
                Err(newer) => current = newer,
            }
        }
    }

    fn check_precondition(
        &self,
        context: &WriteContext,
        name: &str,
        object: &Owned,
        options: &DeleteOptions,
    ) -> Result<(), Status> {
        let Some(meta) = meta(object.as_ref()) else { return Ok(()) };
        if self.def.hooks.delete.is_some() {
            let failed = options.precondition.failed(meta);
            return failed.map_or(Ok(()), |why| Err(Status::conflict(self.name_in(context), name, why)));
        }
        options.precondition.check(meta).map_err(|why| Status::conflict(self.kind_name(), name, why))
    }

    fn next_step(&self, context: &WriteContext, object: &Owned, options: &DeleteOptions) -> Step {
        let finalizers = self.finalizers(object, options);
        let mut marked = object.clone();
        let Some(meta) = meta_mut(&mut marked) else { return Step::Remove };
        if let Some(delete) = self.def.hooks.delete.filter(|_| !meta.is_deleting()) {
            meta.deletion_timestamp = Some(context.now);
            let context = WriteContext { propagation: options.propagation, ..context.clone() };
            delete(&context, marked.as_mut());
            return Step::Mark(marked);
        }
        if self.def.hooks.holds.is_some_and(|holds| holds(object.as_ref())) {
            return Step::Nothing;
        }
        let grace = match self.graceful(context, object, meta, options) {
            Graceful::Pending => return Step::Nothing,
            Graceful::Period(seconds) => Some(seconds),
            Graceful::No => None,
        };
        let was_held = !meta.finalizers.is_empty();
        meta.finalizers = finalizers;
        let held = !meta.finalizers.is_empty();
        match grace {
            Some(seconds) if held || seconds > 0 => Step::Mark(marked),
            Some(_) => Step::MarkAndRemove(marked),
            None if held => {
                mark_as_deleting(meta, context.now);
                Step::Mark(marked)
            }
            None if was_held => Step::Release,
            None => Step::Remove,
        }
    }

    /// Starts, shortens or keeps the grace period in the object's metadata.
    fn graceful(
        &self,
        context: &WriteContext,
        object: &Owned,
        meta: &mut apimachinery::meta::v1::ObjectMeta,
        options: &DeleteOptions,
    ) -> Graceful {
        if !self.def.graceful_delete {
            return Graceful::No;
        }
        let requested = options.grace_period_seconds.map(|seconds| if seconds < 0 { 1 } else { seconds });
        let Some(deletion) = meta.deletion_timestamp else {
            let Some(seconds) = self.strategy.grace_period(requested, object.as_ref()) else { return Graceful::No };
            // Upstream's arithmetic overflows here.
            let seconds = seconds.min(Time::MAX.unix() - context.now.unix());
            meta.deletion_timestamp = Some(context.now.saturating_add(seconds));
            meta.deletion_grace_period_seconds = Some(seconds);
            if meta.generation > 0 {
                meta.generation += 1;
            }
            return Graceful::Period(seconds);
        };
        let left = meta.deletion_grace_period_seconds.unwrap_or(0);
        if left == 0 {
            return Graceful::No;
        }
        let Some(mut period) = requested.filter(|requested| *requested < left) else { return Graceful::Pending };
        let mut at = deletion.saturating_add(period.saturating_sub(left));
        if at.unix() < context.now.unix() {
            at = context.now;
            period = period.min(1);
        }
        meta.deletion_timestamp = Some(at);
        meta.deletion_grace_period_seconds = Some(period);
        Graceful::Period(requested.unwrap_or(period))
    }

    /// Returns the finalizers that the propagation policy requires (`deletionFinalizersForGarbageCollection`).
    fn finalizers(&self, object: &Owned, options: &DeleteOptions) -> Vec<String> {
        let Some(meta) = meta(object.as_ref()) else { return Vec::new() };
        if !self.collects_garbage {
            return meta.finalizers.clone();
        }
        let has = |name: &str| meta.finalizers.iter().any(|f| f == name);
        let (orphan, foreground) = match options.propagation {
            _ if self.def.garbage_collection == GarbageCollection::Unsupported => (false, false),
            Some(Propagation::Orphan) => (true, false),
            Some(Propagation::Foreground) => (false, true),
            Some(Propagation::Background | Propagation::NotOrphan) => (false, false),
            None if has(ORPHAN) => (true, false),
            None if has(FOREGROUND) => (false, true),
            None => (self.def.garbage_collection == GarbageCollection::Orphan, false),
        };
        if (has(ORPHAN), has(FOREGROUND)) == (orphan, foreground) {
            return meta.finalizers.clone();
        }
        let others = meta.finalizers.iter().filter(|f| *f != ORPHAN && *f != FOREGROUND).cloned();
        let added = [(orphan, ORPHAN), (foreground, FOREGROUND)].into_iter().filter(|(wanted, _)| *wanted);
        others.chain(added.map(|(_, name)| name.to_string())).collect()
    }

    pub(crate) async fn remove(
        &self,
        key: &str,
        mut object: Owned,
        dry_run: bool,
        outcome: &mut WriteOutcome,
    ) -> Result<Result<Owned, Option<Arc<Entry>>>, Status> {
        if dry_run {
            return Ok(Ok(object));
        }
        let revision = meta(object.as_ref()).and_then(MetaExt::revision).unwrap_or(0);
        match self.commit(Txn::delete(key.to_string()).when(revision), outcome).await? {
            TxnOutcome::Committed { revision, .. } => {
                if let Some(meta) = meta_mut(&mut object) {
                    meta.resource_version = revision.to_string();
                }
                self.after_delete(&object).await;
                Ok(Ok(object))
            }
            TxnOutcome::Conflict { current, .. } => Ok(Err(self.newer(current))),
        }
    }
}

/// The result of `rest.BeforeDelete` for the grace period.
enum Graceful {
    /// A grace period is running and is not shortened.
    Pending,
    /// The object is removed after this many seconds.
    Period(i64),
    No,
}

/// Marks an object without grace period that has finalizers.
fn mark_as_deleting(meta: &mut apimachinery::meta::v1::ObjectMeta, now: Time) {
    if !meta.is_deleting() && meta.generation > 0 {
        meta.generation += 1;
    }
    if meta.deletion_timestamp.is_none_or(|at| at.unix() > now.unix()) {
        meta.deletion_timestamp = Some(now);
    }
    meta.deletion_grace_period_seconds = Some(0);
}
