//! Update (`registry.Store.Update`, `GuaranteedUpdate`): read, change, compare and put, with a retry on
//! conflict.

use std::sync::Arc;

use apimachinery::meta::v1::ObjectMeta;
use async_trait::async_trait;
use bytes::Bytes;
use machinery::field_error::{BadValue, FieldError, with_bounded_texts};
use machinery::field_path::Path;
use machinery::reflect::Owned;
use machinery::status::Status;
use storage::cache::Entry;
use storage::{Txn, TxnOutcome};

use crate::metadata::{MetaExt, meta, meta_mut};
use crate::options::{CreateOptions, UpdateOptions};
use crate::ownership::keep_times;
use crate::resource::{ResourceStore, sent_version};
use crate::strategy::WriteContext;
use crate::validation;
use crate::write_hook::WriteOutcome;

/// The result of an update.
pub struct Updated {
    /// The object as stored.
    pub object: Owned,
    /// Whether the object was created.
    pub created: bool,
}

/// Decides whether a prepared and valid object may be stored: validating admission.
///
/// Upstream's name is `rest.ValidateObjectFunc`.
#[async_trait]
pub trait CheckWrite: Send {
    /// Checks the new object; `old` is `None` for a create.
    ///
    /// Called again after a conflict with another writer. By default every object is allowed.
    ///
    /// # Errors
    /// The Status that rejects the write.
    async fn check(&mut self, _new: &Owned, _old: Option<&Owned>) -> Result<(), Status> {
        Ok(())
    }

    /// Settles what the last [`check`](Self::check) reserved, such as quota.
    ///
    /// Called after each attempt to store.
    async fn settle(&mut self, _outcome: WriteOutcome) {}
}

/// Computes the new object from the stored one (`rest.UpdatedObjectInfo`).
///
/// The change is a body or a patch, followed by mutating admission.
#[async_trait]
pub trait UpdatedObjectInfo: CheckWrite {
    /// Returns the new object; `current` is `None` for a create.
    ///
    /// Called again after a conflict with another writer.
    ///
    /// # Errors
    /// The Status that rejects the write.
    async fn apply(&mut self, current: Option<&Owned>) -> Result<Owned, Status>;
}

/// The message when the client's resourceVersion is not the stored one (`OptimisticLockErrorMsg`).
const MODIFIED: &str = "the object has been modified; please apply your changes to the latest version and try again";

impl ResourceStore {
    /// Changes an object, or creates it if the options allow that.
    ///
    /// [`UpdatedObjectInfo::apply`] gets the stored object (`None` for a create) and returns the new
    /// one. It is called again after a conflict with another writer, unless the new object has a
    /// resourceVersion.
    /// Upstream's name is `registry.Store.Update`.
    ///
    /// # Errors
    /// Besides those of each call:
    /// - 400 for a name that no object can have, or when the object has another namespace than the
    ///   request;
    /// - 404 when there is no such object and it may not be created;
    /// - 409 when the stored object violates the precondition, or has another resourceVersion than the
    ///   new one;
    /// - 422 when the new object is invalid;
    /// - the errors of `change` and of the [`WriteHook`](crate::WriteHook).
    pub async fn update(
        &self,
        context: &WriteContext,
        name: &str,
        options: &UpdateOptions,
        change: &mut dyn UpdatedObjectInfo,
    ) -> Result<Updated, Status> {
        self.check_key(&context.namespace, name)?;
        let key = self.key(&context.namespace, name);
        let mut current = self.current(&key).await?;
        loop {
            let Some(entry) = current else {
                return self.create_by_update(context, name, options, change).await;
            };
            let old = self.object(&*self.in_version(entry.clone()).await?)?;
            self.check_stored(context, name, meta(old.as_ref()), options)?;
            let mut new = change.apply(Some(&old)).await?;
            self.check_namespace(context, &mut new)?;
            self.check_version(context, name, &old, &mut new)?;
            let mut reserved = self.begin(context, &mut new, Some(&old)).await?;
            let put = match self.changed(context, name, &old, new) {
                Ok(new) => match change.check(&new, Some(&old)).await {
                    Ok(()) => self.put_changed(&key, &entry, new, options, &mut reserved.outcome).await,
                    Err(refused) => Err(refused),
                },
                Err(refused) => Err(refused),
            };
            change.settle(reserved.outcome).await;
            reserved.finish().await;
            match put? {
                Ok(object) => return Ok(Updated { object, created: false }),
                Err(newer) => current = newer,
            }
        }
    }

    async fn create_by_update(
        &self,
        context: &WriteContext,
        name: &str,
        options: &UpdateOptions,
        change: &mut dyn UpdatedObjectInfo,
    ) -> Result<Updated, Status> {
        if !options.create_when_absent {
            return Err(Status::not_found(self.name_in(context), name));
        }
        self.check_stored(context, name, None, options)?;
        let mut new = change.apply(None).await?;
        if let Some(meta) = meta_mut(&mut new) {
            sent_version(meta)?;
            // As upstream, a dry run returns the version that was sent.
            if !options.dry_run {
                meta.resource_version.clear();
            }
            if !meta.uid.is_empty() {
                let metadata = Path::new("metadata");
                let error =
                    FieldError::invalid(&metadata.child("uid"), BadValue::json_string(&meta.uid), "field is immutable");
                return Err(Status::invalid(self.kind_of(&new), name, &[error.clone(), error]));
            }
        }
        let options = CreateOptions { dry_run: options.dry_run };
        let object = self.create(context, new, &options, change).await?;
        Ok(Updated { object, created: true })
    }

    /// Keeps immutable metadata, prepares the object with the strategy, and validates it.
    fn changed(&self, context: &WriteContext, name: &str, old: &Owned, mut new: Owned) -> Result<Owned, Status> {
        if let (Some(to), Some(from)) = (meta_mut(&mut new), meta(old.as_ref())) {
            to.generation = from.generation;
            to.creation_timestamp = from.creation_timestamp;
            if to.uid.is_empty() {
                to.uid = from.uid.clone();
            }
            if from.is_deleting() {
                to.deletion_timestamp = from.deletion_timestamp;
            }
            if to.deletion_grace_period_seconds.is_none() {
                to.deletion_grace_period_seconds = from.deletion_grace_period_seconds;
            }
        }
        self.strategy.prepare_for_update(context, &mut new, old.as_ref());
        // The comparison before admission did not include the fields that the strategy resets.
        keep_times(old, &mut new);
        let mut errors = Vec::new();
        validation::common(context, new.as_ref(), Some(old.as_ref()), self.def.namespaced, &mut errors);
        errors.extend(with_bounded_texts(|| self.strategy.validate_update(context, new.as_ref(), old.as_ref())));
        if !errors.is_empty() {
            context.sent.complete(&mut errors, new.def());
            return Err(Status::invalid(self.kind_of(&new), name, &errors));
        }
        let warnings = self.strategy.warnings(context, new.as_ref(), Some(old.as_ref()));
        warnings.iter().for_each(|text| context.warnings.add(text));
        Ok(new)
    }

    /// Checks the precondition; a missing object has neither uid nor version (`storage.Preconditions.Check`).
    pub(crate) fn check_stored(
        &self,
        context: &WriteContext,
        name: &str,
        stored: Option<&ObjectMeta>,
        options: &UpdateOptions,
    ) -> Result<(), Status> {
        let wanted = &options.precondition;
        let stored = |of: fn(&ObjectMeta) -> &str| stored.map_or("", of);
        let pairs = [
            ("UID", &wanted.uid, stored(|meta| &meta.uid)),
            ("ResourceVersion", &wanted.resource_version, stored(|meta| &meta.resource_version)),
        ];
        for (what, wanted, is) in pairs {
            if let Some(wanted) = wanted.as_deref().filter(|wanted| *wanted != is) {
                return Err(self.precondition_failed(context, name, options.dry_run, what, wanted, is));
            }
        }
        Ok(())
    }

    /// Returns the error of a failed precondition. Upstream's dry runs do not use the store's prefix.
    pub(crate) fn precondition_failed(
        &self,
        context: &WriteContext,
        name: &str,
        dry_run: bool,
        what: &str,
        wanted: &str,
        is: &str,
    ) -> Status {
        let key = match dry_run {
            true => self.key_without_prefix(&context.namespace, name),
            false => self.key(&context.namespace, name),
        };
        let why = format!("Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {is}");
        Status::conflict(self.name_in(context), name, invalid_object(&key, &why))
    }

    fn check_version(&self, context: &WriteContext, name: &str, old: &Owned, new: &mut Owned) -> Result<(), Status> {
        let (Some(to), Some(from)) = (meta_mut(new), meta(old.as_ref())) else { return Ok(()) };
        match sent_version(to)? {
            None if self.def.unconditional_update => {
                to.resource_version = from.resource_version.clone();
                Ok(())
            }
            None => {
                let metadata = Path::new("metadata");
                let errors =
                    [FieldError::invalid(&metadata.child("resourceVersion"), 0, "must be specified for an update")];
                // Upstream names the resource here, not the kind.
                Err(Status::invalid(self.name_in(context), name, &errors))
            }
            sent if sent == from.revision() => Ok(()),
            Some(_) => Err(Status::conflict(self.name_in(context), name, MODIFIED)),
        }
    }

    /// Stores the changed object, or returns the one that another writer stored in the meantime.
    async fn put_changed(
        &self,
        key: &str,
        entry: &Arc<Entry>,
        mut new: Owned,
        options: &UpdateOptions,
        outcome: &mut WriteOutcome,
    ) -> Result<Result<Owned, Option<Arc<Entry>>>, Status> {
        if let Some(meta) = meta_mut(&mut new) {
            meta.resource_version = entry.revision.to_string();
        }
        if !self.is_finished(&new) {
            return self.put(key, entry, new, options.dry_run, outcome).await;
        }
        // The response is the sent object, not the removed one (`deleteWithoutFinalizers`).
        let removed = self.remove(key, new.clone(), options.dry_run, outcome).await?;
        Ok(removed.map(|_| new))
    }

    /// Replaces an entry by an object, unless they are equal.
    pub(crate) async fn put(
        &self,
        key: &str,
        entry: &Arc<Entry>,
        mut new: Owned,
        dry_run: bool,
        outcome: &mut WriteOutcome,
    ) -> Result<Result<Owned, Option<Arc<Entry>>>, Status> {
        if dry_run {
            return Ok(Ok(self.as_read(new)));
        }
        // Stored objects, and so responses, have no selfLink (`PrepareObjectForStorage`).
        if let Some(meta) = meta_mut(&mut new) {
            meta.self_link.clear();
        }
        let (changed, new) = self.encode_changed(new, entry).await?;
        let Some(value) = changed.map(Bytes::from) else {
            *outcome = WriteOutcome::Stored;
            return self.unchanged(new, entry).await.map(Ok);
        };
        let txn = Txn::update(key.to_string(), entry.revision, value.clone()).with_ttl(self.time_to_live);
        match self.commit(txn, outcome).await? {
            TxnOutcome::Committed { revision, .. } => self.written(new, key, value, revision).await.map(Ok),
            TxnOutcome::Conflict { current, .. } => Ok(Err(self.newer(current))),
        }
    }

    /// Returns whether nothing blocks the removal of a deleted object (`ShouldDeleteDuringUpdate`).
    fn is_finished(&self, object: &Owned) -> bool {
        let released = meta(object.as_ref()).is_some_and(|m| {
            m.is_deleting() && m.finalizers.is_empty() && m.deletion_grace_period_seconds.unwrap_or(0) == 0
        });
        released && !self.def.hooks.holds.is_some_and(|holds| holds(object.as_ref()))
    }
}

/// `storage.NewInvalidObjError`
fn invalid_object(key: &str, why: &str) -> String {
    format!("StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}")
}
