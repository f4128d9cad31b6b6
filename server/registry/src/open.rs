//! Unstructured kinds, which are defined at run time. Their objects are stored as JSON text, and
//! conversion between their versions needs more than descriptors.

use std::sync::Arc;

use bytes::Bytes;
use machinery::defaulting;
use machinery::envelope;
use machinery::reflect::Owned;
use machinery::status::Status;
use storage::cache::Entry;
use storage::{KeyValue, Revision};

use crate::complete;
use crate::metadata::meta_mut;
use crate::resource::ResourceStore;
use crate::stored;
use crate::versions::is_text;

impl ResourceStore {
    /// Converts an entry to the version of the store's users.
    pub(crate) async fn in_version(&self, entry: Arc<Entry>) -> Result<Arc<Entry>, Status> {
        match &self.versions {
            Some(versions) if !versions.is_read(&entry) => {
                let read = versions.read(vec![entry.clone()]).await?;
                Ok(read.into_iter().next().unwrap_or(entry))
            }
            _ => Ok(entry),
        }
    }

    /// Converts entries to the version of the store's users.
    pub(crate) async fn all_in_version(&self, entries: Vec<Arc<Entry>>) -> Result<Vec<Arc<Entry>>, Status> {
        match &self.versions {
            Some(versions) if !entries.iter().all(|entry| versions.is_read(entry)) => versions.read(entries).await,
            _ => Ok(entries),
        }
    }

    /// Encodes an object for storage; also returns it as readers get it.
    pub(crate) async fn encode_for_readers(&self, mut object: Owned) -> Result<(Vec<u8>, Owned), Status> {
        let value = self.encode(&mut object).await?;
        if self.versions.is_some() || !defaulting::has_defaults(self.storage_kind.def) {
            return Ok((value, object));
        }
        let mut seen = stored::with_defaults(self.storage_kind, object);
        // Readers of this value need not apply defaults again.
        if !self.as_json && stored::encodes_to(self.storage_kind, &mut seen, &value) {
            complete::written_here(&value);
        }
        Ok((value, seen))
    }

    /// Returns an object as readers get it, with defaults. A strategy may have removed values.
    pub(crate) fn as_read(&self, object: Owned) -> Owned {
        if self.versions.is_some() { object } else { stored::with_defaults(self.storage_kind, object) }
    }

    /// Encodes an object for storage.
    async fn encode(&self, object: &mut Owned) -> Result<Vec<u8>, Status> {
        match &self.versions {
            Some(versions) => versions.write(object).await,
            None => Ok(stored::encode(self.storage_kind, self.as_json, object)),
        }
    }

    /// Returns the response for a written object. If the storage version differs, that is the stored
    /// object as readers get it, without the fields that the storage version does not have.
    pub(crate) async fn written(
        &self,
        mut object: Owned,
        key: &str,
        value: Bytes,
        revision: Revision,
    ) -> Result<Owned, Status> {
        if self.is_stored_version() {
            if let Some(meta) = meta_mut(&mut object) {
                meta.resource_version = revision.to_string();
            }
            return Ok(object);
        }
        let kv = KeyValue { key: key.to_owned().into(), value, mod_revision: revision, ..KeyValue::default() };
        self.object(&*self.in_version(self.cache.entry(&kv)).await?)
    }

    /// Returns the response for a write that changed nothing.
    pub(crate) async fn unchanged(&self, object: Owned, entry: &Arc<Entry>) -> Result<Owned, Status> {
        if self.is_stored_version() {
            return Ok(object);
        }
        self.object(&*self.in_version(entry.clone()).await?)
    }

    fn is_stored_version(&self) -> bool {
        self.versions.as_ref().is_none_or(|versions| versions.is_stored())
    }

    /// Encodes an object that replaces an entry; also returns it as readers get it. The value is `None`
    /// when nothing would change.
    pub(crate) async fn encode_changed(
        &self,
        mut object: Owned,
        entry: &Entry,
    ) -> Result<(Option<Vec<u8>>, Owned), Status> {
        if !is_text(self.storage_kind) {
            // A value without defaults or in another version is always rewritten.
            let same = entry.stored.is_none()
                && stored::is_same(self.storage_kind, &object, entry)
                && !self.is_stale(entry).await?;
            if same {
                return Ok((None, object));
            }
            let (value, seen) = self.encode_for_readers(object).await?;
            return Ok((Some(value), seen));
        }
        let value = self.encode(&mut object).await?;
        let same = match &entry.stored {
            // Compares stored bytes, because a schema may prune fields on reads.
            Some(stored) => stored::is_same_json(&value, stored),
            None => {
                let (key, again) = (entry.key.clone(), value.clone().into());
                let kv = KeyValue { key, value: again, mod_revision: entry.revision, ..KeyValue::default() };
                stored::is_same_json(&self.cache.entry(&kv).object, &entry.object)
            }
        };
        Ok(((!same || self.is_stale(entry).await?).then_some(value), object))
    }

    /// Returns whether the stored form of an unchanged object is outdated (`objState.stale`). Reads the
    /// store, because encryption keys change without a write.
    async fn is_stale(&self, entry: &Entry) -> Result<bool, Status> {
        let found = self.store.get(&entry.key, None).await.map_err(stored::failure)?.kv;
        let other_form = |value: &[u8]| !is_text(self.storage_kind) && envelope::is_envelope(value) == self.as_json;
        Ok(found.is_some_and(|kv| kv.mod_revision == entry.revision && (kv.stale || other_form(&kv.value))))
    }
}
