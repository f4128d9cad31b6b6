//! Objects whose stored bytes cannot be decrypted or decoded, where they are told and may be deleted unread (KEP-3926).

use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::status::{Cause, Details, GroupResource, Status};
use storage::cache::{Damage, Entry};
use storage::{Revision, Txn, TxnOutcome};

use crate::resource::ResourceStore;
use crate::strategy::Context;
use crate::write_hook::Outcome;
use crate::{list, stored};

/// Most objects that a list tells of (upstream: `corruptObjErrAggregatorFactory(100)`).
const MOST: usize = 100;
const OPTION: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

impl ResourceStore {
    /// A damaged object fails whatever would show it.
    pub(crate) fn check(&self, entry: &Entry) -> Result<(), Status> {
        match &entry.damage {
            Some(damage) if self.tells_corrupt => {
                let key = String::from_utf8_lossy(&entry.key);
                Err(Status::internal(storage_error(self.below_prefix(&key), entry.revision, damage)))
            }
            _ => list::check(entry),
        }
    }

    /// A key without what all keys begin with, as upstream's stores know it.
    fn below_prefix<'k>(&self, key: &'k str) -> &'k str {
        let prefix = self.root.len() - self.def.key_prefix.len() - 2;
        key.get(prefix..).unwrap_or(key)
    }

    /// What a list of a namespace says that failed because of damaged objects: all of them.
    pub(crate) fn corrupt_list(&self, namespace: &str) -> Option<Status> {
        let snapshot = self.cache.snapshot();
        let range = self.range(namespace);
        let mut found = snapshot.range(&range).filter_map(|entry| Some((entry, entry.damage.as_ref()?)));
        let cause = |(entry, damage): (&std::sync::Arc<Entry>, &Damage)| {
            let key = String::from_utf8_lossy(&entry.key).into_owned();
            let message = storage_error(&key, entry.revision, damage);
            Cause { reason: "UnexpectedServerResponse".into(), message, field: key }
        };
        let mut causes: Vec<Cause> = found.by_ref().take(MOST).map(cause).collect();
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

    /// Deletes an object that cannot be read, without a look at it: finalizers, preconditions and admission are left
    /// out (upstream: `corruptObjectDeleter`). One that can be read is not deleted.
    ///
    /// # Errors
    /// 422 when the object can be read, or is not there.
    pub async fn delete_corrupt(&self, context: &Context, name: &str) -> Result<(), Status> {
        let key = self.key(&context.namespace, name);
        loop {
            // The cache may not know yet that the object can be read again.
            let found = self.store.get(key.as_bytes(), None).await.map_err(stored::failure)?;
            let entry = self.newer(found.kv).filter(|entry| entry.damage.is_some());
            let Some(entry) = entry else { return Err(self.not_corrupt(context, name)) };
            tracing::warn!(key, "deleting an object that cannot be read");
            let delete = Txn::delete(key.clone()).when(entry.revision);
            if let TxnOutcome::Committed { .. } = self.commit(delete, &mut Outcome::default()).await? {
                return Ok(());
            }
        }
    }

    fn not_corrupt(&self, context: &Context, name: &str) -> Status {
        let why = "is exclusively used to delete corrupt object(s), try again by removing this option";
        Status::invalid(self.name_in(context), name, &[FieldError::invalid(&Path::new(OPTION), true, why)])
    }
}

/// In upstream's words (`StorageError`), of which the number is part.
fn storage_error(key: &str, revision: Revision, damage: &Damage) -> String {
    let why = match damage {
        Damage::Undecodable(why) => format!("object not decodable revision={revision}: {why}"),
        Damage::Untransformable(why) => format!("data from the storage is not transformable revision=0: {why}"),
    };
    format!("StorageError: corrupt object, Code: 7, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}")
}
