//! Typed reads of other resources during a request, for admission.
//!
//! A request reads the revision of each store once. Small objects that are read repeatedly, such as a
//! namespace and its service account, are decoded once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use machinery::reflect::Struct;
use machinery::status::Status;
use storage::cache::Entry;
use storage::{Revision, Store};

use crate::options::ListQuery;
use crate::resource::ResourceStore;
use crate::select::Predicate;
use crate::stored;

/// The revision of each store at the first read of a request.
///
/// Later reads of the request need not be newer.
#[derive(Debug, Default)]
pub struct ReadRevision(Mutex<Vec<(usize, Revision)>>);

impl ReadRevision {
    /// Makes later reads include the request's own writes.
    pub fn renew(&self) {
        self.lock().clear();
    }

    async fn of(&self, store: &Arc<dyn Store>) -> Result<Revision, Status> {
        let which = Arc::as_ptr(store).addr();
        let known = self.lock().iter().find(|(known, _)| *known == which).map(|(_, revision)| *revision);
        if let Some(revision) = known {
            return Ok(revision);
        }
        let revision = store.current_revision().await.map_err(stored::failure)?;
        self.lock().push((which, revision));
        Ok(revision)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(usize, Revision)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ResourceStore {
    /// Returns an object with the hub type `T`, if it exists.
    ///
    /// # Errors
    /// Only those of each call.
    pub async fn get_typed<T: Struct>(
        &self,
        namespace: &str,
        name: &str,
        as_of: &ReadRevision,
    ) -> Result<Option<Arc<T>>, Status> {
        let key = self.key(namespace, name);
        let entry = match self.reaches(as_of.of(&self.store).await?).await {
            true => self.cache.get(key.as_bytes()),
            false => self.newer(self.store.get(key.as_bytes(), None).await.map_err(stored::failure)?.kv),
        };
        let Some(entry) = entry else { return Ok(None) };
        self.shared(&self.in_version(entry).await?)
    }

    /// Returns the objects of a namespace with the hub type `T`.
    ///
    /// An empty namespace selects all namespaces.
    ///
    /// # Errors
    /// Only those of each call.
    pub async fn list_typed<T: Struct>(&self, namespace: &str, as_of: &ReadRevision) -> Result<Vec<Arc<T>>, Status> {
        if !self.reaches(as_of.of(&self.store).await?).await {
            let listed = self.list(namespace, &Predicate::default(), &ListQuery::default()).await?;
            return self.all_shared(&listed.entries);
        }
        let entries: Vec<Arc<Entry>> = self.cache.snapshot().range(&self.range(namespace)).cloned().collect();
        self.all_shared(&self.all_in_version(entries).await?)
    }

    fn all_shared<T: Struct>(&self, entries: &[Arc<Entry>]) -> Result<Vec<Arc<T>>, Status> {
        entries.iter().filter_map(|entry| self.shared(entry).transpose()).collect()
    }

    /// Returns the decoded object of an entry; `None` when it has another type.
    fn shared<T: Struct>(&self, entry: &Arc<Entry>) -> Result<Option<Arc<T>>, Status> {
        if let Some(known) = self.recent.get(entry) {
            return Ok(known.downcast().ok());
        }
        let Ok(object) = self.object(entry)?.into_inner::<T>() else { return Ok(None) };
        let object = Arc::new(object);
        self.recent.keep(entry, object.clone());
        Ok(Some(object))
    }
}
