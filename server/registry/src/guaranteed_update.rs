//! Updates by the server itself, without preparation and validation by a strategy (upstream's callers of
//! `Storage.GuaranteedUpdate`).

use machinery::reflect::Owned;
use machinery::status::Status;

use crate::metadata::meta;
use crate::options::UpdateOptions;
use crate::resource::ResourceStore;
use crate::strategy::WriteContext;
use crate::write_hook::WriteOutcome;

impl ResourceStore {
    /// Changes a stored object without validation (`Storage.GuaranteedUpdate`).
    ///
    /// `change` is called again after a conflict with another writer.
    ///
    /// # Errors
    /// Besides those of each call, 404 when there is no such object, 409 when it violates the
    /// precondition, and the errors of `change`.
    pub async fn guaranteed_update(
        &self,
        context: &WriteContext,
        name: &str,
        options: &UpdateOptions,
        change: &(dyn Fn(&mut Owned) -> Result<(), Status> + Send + Sync),
    ) -> Result<Owned, Status> {
        self.check_key(&context.namespace, name)?;
        let key = self.key(&context.namespace, name);
        let mut current = self.current(&key).await?;
        loop {
            let Some(entry) = current else { return Err(Status::not_found(self.name_in(context), name)) };
            let mut object = self.object(&entry)?;
            self.check_stored(context, name, meta(object.as_ref()), options)?;
            change(&mut object)?;
            match self.put(&key, &entry, object, options.dry_run, &mut WriteOutcome::default()).await? {
                Ok(stored) => return Ok(stored),
                Err(newer) => current = newer,
            }
        }
    }
}
