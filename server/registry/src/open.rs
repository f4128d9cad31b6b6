//! Kinds of open form, which are made at run time: their objects are kept as JSON text, and move between versions by more than descriptors
//! say.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use machinery::catalog::KindDef;
use machinery::def::JsonForm;
use machinery::defaulting;
use machinery::envelope;
use machinery::reflect::Owned;
use machinery::status::Status;
use storage::cache::{Attributes, Entry};
use storage::{KeyValue, Revision};

use crate::complete;
use crate::metadata::meta_mut;
use crate::resource::ResourceStore;
use crate::stored;

/// Between the version that a store's users speak and those that its objects are stored in.
#[async_trait]
pub trait Versions: Send + Sync {
    /// Whether objects are stored in the users' version.
    fn is_stored(&self) -> bool;

    /// Whether an entry is in the users' version already.
    fn is_read(&self, entry: &Entry) -> bool;

    /// Whether selectors have to look at the converted object: labels and fields of an entry in another version say nothing.
    fn selects_converted(&self) -> bool;

    /// What selectors look at in an entry that is in the users' version; nothing where it cannot be read.
    fn attributes(&self, entry: &Entry) -> Attributes;

    /// Entries in the users' version.
    async fn read(&self, entries: Vec<Arc<Entry>>) -> Result<Vec<Arc<Entry>>, Status>;

    /// An object of the users' version as it is to be stored, without its resourceVersion, which it keeps.
    async fn write(&self, object: &mut Owned) -> Result<Vec<u8>, Status>;
}

/// Whether entries of a kind hold JSON text; those of all others hold protobuf messages.
pub fn is_text(kind: &KindDef) -> bool {
    kind.def.json_form == JsonForm::Open
}

impl ResourceStore {
    /// An entry as the store's users see it.
    pub(crate) async fn in_version(&self, entry: Arc<Entry>) -> Result<Arc<Entry>, Status> {
        match &self.versions {
            Some(versions) if !versions.is_read(&entry) => {
                let read = versions.read(vec![entry.clone()]).await?;
                Ok(read.into_iter().next().unwrap_or(entry))
            }
            _ => Ok(entry),
        }
    }

    /// Entries as the store's users see them.
    pub(crate) async fn all_in_version(&self, entries: Vec<Arc<Entry>>) -> Result<Vec<Arc<Entry>>, Status> {
        match &self.versions {
            Some(versions) if !entries.iter().all(|entry| versions.is_read(entry)) => versions.read(entries).await,
            _ => Ok(entries),
        }
    }

    /// An object as it is to be stored, and as readers see it.
    pub(crate) async fn encode_for_readers(&self, mut object: Owned) -> Result<(Vec<u8>, Owned), Status> {
        let value = self.encode(&mut object).await?;
        if self.versions.is_some() || !defaulting::has_defaults(self.storage_kind.def) {
            return Ok((value, object));
        }
        let mut seen = stored::with_defaults(self.storage_kind, object);
        // Readers need not complete what is complete.
        if !self.as_json && stored::encode(self.storage_kind, false, &mut seen) == value {
            complete::written_here(&value);
        }
        Ok((value, seen))
    }

    /// An object as its readers see it, who give what has no value its default. A strategy may have removed values.
    pub(crate) fn seen(&self, object: Owned) -> Owned {
        if self.versions.is_some() { object } else { stored::with_defaults(self.storage_kind, object) }
    }

    /// An object as it is to be stored.
    async fn encode(&self, object: &mut Owned) -> Result<Vec<u8>, Status> {
        match &self.versions {
            Some(versions) => versions.write(object).await,
            None => Ok(stored::encode(self.storage_kind, self.as_json, object)),
        }
    }

    /// A written object as its writer is answered. In another version than the stored one that is what readers get, who do not see all that
    /// was written where the stored version does not know it.
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

    /// Likewise, where nothing had to be written.
    pub(crate) async fn unchanged(&self, object: Owned, entry: &Arc<Entry>) -> Result<Owned, Status> {
        if self.is_stored_version() {
            return Ok(object);
        }
        self.object(&*self.in_version(entry.clone()).await?)
    }

    fn is_stored_version(&self) -> bool {
        self.versions.as_ref().is_none_or(|versions| versions.is_stored())
    }

    /// An object as it is to be stored in the place of an entry, and as readers see it; no value when that would
    /// change nothing.
    pub(crate) async fn encode_changed(
        &self,
        mut object: Owned,
        entry: &Entry,
    ) -> Result<(Option<Vec<u8>>, Owned), Status> {
        if !is_text(self.storage_kind) {
            // What is stored without defaults, or in another version, is stored with them when it is written.
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
            // What a schema drops of it when it is read is stored all the same.
            Some(stored) => stored::says_the_same(&value, stored),
            None => {
                let (key, again) = (entry.key.clone(), value.clone().into());
                let kv = KeyValue { key, value: again, mod_revision: entry.revision, ..KeyValue::default() };
                stored::says_the_same(&self.cache.entry(&kv).object, &entry.object)
            }
        };
        Ok(((!same || self.is_stale(entry).await?).then_some(value), object))
    }

    /// Whether an entry would be stored otherwise than it is, though it is the same object (`objState.stale`). The store is asked, because
    /// keys of encryption change without a write.
    async fn is_stale(&self, entry: &Entry) -> Result<bool, Status> {
        let found = self.store.get(&entry.key, None).await.map_err(stored::failure)?.kv;
        let other_form = |value: &[u8]| !is_text(self.storage_kind) && envelope::is_envelope(value) == self.as_json;
        Ok(found.is_some_and(|kv| kv.mod_revision == entry.revision && (kv.stale || other_form(&kv.value))))
    }
}
