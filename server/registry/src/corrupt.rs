//! Objects that cannot be decrypted or decoded: their error messages, and their unsafe deletion (KEP-3926).

use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::status::{Cause, Details, GroupResource, Status};
use storage::cache::{Damage, Entry};
use storage::{Revision, Txn, TxnOutcome};

use crate::resource::ResourceStore;
use crate::strategy::WriteContext;
use crate::write_hook::WriteOutcome;
use crate::{list, stored};

/// Maximum number of objects that a list error names (upstream: `corruptObjErrAggregatorFactory(100)`).
const MAX_CAUSES: usize = 100;
const OPTION: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

impl ResourceStore {
    /// Fails for a damaged object, as any response with it must.
    pub(crate) fn check(&self, entry: &Entry) -> Result<(), Status> {
        match &entry.damage {
            Some(damage) if self.reports_corrupt_objects => {
                let key = String::from_utf8_lossy(&entry.key);
                Err(Status::internal(storage_error(self.below_prefix(&key), entry.revision, damage)))
            }
            _ => list::check(entry),
        }
    }

    /// Strips the prefix of all keys, as upstream's stores do.
    fn below_prefix<'k>(&self, key: &'k str) -> &'k str {
        let prefix = self.root.len() - self.def.key_prefix.len() - 2;
        key.get(prefix..).unwrap_or(key)
    }

    /// Returns the error of a list with damaged objects, which names all of them; `None` when there are none.
    pub(crate) fn corrupt_list(&self, namespace: &str) -> Option<Status> {
        let snapshot = self.cache.snapshot();
        let range = self.range(namespace);
        let mut found = snapshot.range(&range).filter_map(|entry| Some((entry, entry.damage.as_ref()?)));
        let cause = |(entry, damage): (&std::sync::Arc<Entry>, &Damage)| {
            let key = String::from_utf8_lossy(&entry.key).into_owned();
            let message = storage_error(&key, entry.revision, damage);
            Cause { reason: "UnexpectedServerResponse".into(), message, field: key }
        };
        let mut causes: Vec<Cause> = found.by_ref().take(MAX_CAUSES).map(cause).collect();
        if causes.is_empty() {
            return None;
        }
        if found.next().is_some() {
            let message = "too many errors, the list is truncated".into();
            causes.push(Cause { reason: "FieldValueTooMany".into(), message, field: String::new() });
        }
        let GroupResource { group, resource } = self.name();
        let message = format!("failed to read one or more {} from the storage", self.name());
        let details =
            Details { name: "list".into(), group: group.into(), kind: resource.into(), causes, ..Details::default() };
        Some(Status { details: Some(Box::new(details)), ..Status::new(500, "StorageReadError", message) })
    }

    /// Deletes an unreadable object without finalizers, preconditions and admission.
    ///
    /// A readable object is not deleted. Upstream's name is `corruptObjectDeleter`.
    ///
    /// # Errors
    /// Besides those of each call, 422 when the object is readable or does not exist.
    pub async fn delete_corrupt(&self, context: &WriteContext, name: &str) -> Result<(), Status> {
        let key = self.key(&context.namespace, name);
        loop {
            // The cache may not have noticed yet that the object is readable again.
            let found = self.store.get(key.as_bytes(), None).await.map_err(stored::failure)?;
            let entry = self.newer(found.kv).filter(|entry| entry.damage.is_some());
            let Some(entry) = entry else { return Err(self.not_corrupt(context, name)) };
            tracing::warn!(key, "deleting an unreadable object without finalizers, preconditions and admission");
            let delete = Txn::delete(key.clone()).when(entry.revision);
            if let TxnOutcome::Committed { .. } = self.commit(delete, &mut WriteOutcome::default()).await? {
                return Ok(());
            }
        }
    }

    fn not_corrupt(&self, context: &WriteContext, name: &str) -> Status {
        let why = "is exclusively used to delete corrupt object(s), try again by removing this option";
        Status::invalid(self.name_in(context), name, &[FieldError::invalid(&Path::new(OPTION), true, why)])
    }
}

/// Formats upstream's `StorageError`, of which the number is part.
fn storage_error(key: &str, revision: Revision, damage: &Damage) -> String {
    let why = match damage {
        Damage::Undecodable(why) => format!("object not decodable revision={revision}: {why}"),
        Damage::Untransformable(why) => format!("data from the storage is not transformable revision=0: {why}"),
    };
    format!("StorageError: corrupt object, Code: 7, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}")
}
