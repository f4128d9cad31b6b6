//! Reads of objects in their stored versions, for readers of metadata, which is the same in all
//! versions. They do not call conversion webhooks.

use std::sync::Arc;

use machinery::status::Status;
use storage::cache::Entry;

use crate::options::ListQuery;
use crate::resource::ResourceStore;
use crate::select::Predicate;
use crate::watch::WatchStream;

impl ResourceStore {
    /// Starts a watch of all objects in their stored versions, the current ones first.
    ///
    /// # Errors
    /// Only those of each call.
    pub async fn watch_stored(self: &Arc<Self>) -> Result<WatchStream, Status> {
        let stream = self.watch("", &Predicate::default(), &ListQuery::default(), true, Some(true)).await?;
        Ok(stream.without_conversion())
    }

    /// Returns the current entry of an object in its stored version, if it exists.
    ///
    /// # Errors
    /// Only those of each call.
    pub async fn stored_entry(&self, namespace: &str, name: &str) -> Result<Option<Arc<Entry>>, Status> {
        self.current(&self.key(namespace, name)).await
    }

    /// Returns the cached entries with a name, in any namespace. Scans all keys of the resource.
    pub fn stored_entries_named(&self, name: &str) -> Vec<Arc<Entry>> {
        let (snapshot, range, end) = (self.cache.snapshot(), self.range(""), format!("/{name}"));
        let entries = snapshot.range(&range).filter(|entry| entry.key.ends_with(end.as_bytes()));
        entries.cloned().collect()
    }
}
