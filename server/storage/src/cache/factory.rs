//! Creates the entries of a resource.

use std::sync::Arc;

use super::budget::CacheBudget;
use super::entry::{Damage, Description, Entry};
use crate::{KeyValue, Revision};

/// Decodes stored values of one resource. The storage crate does not know its kind.
pub trait EntryDecoder: Send + Sync + 'static {
    /// Returns the object as served, with its revision in it, and its attributes.
    ///
    /// Unreadable values have `damage` set.
    fn describe(&self, kv: &KeyValue) -> Description;

    /// Returns an object as served, with another revision.
    fn at_revision(&self, entry: &Entry, revision: Revision) -> Description;
}

/// Creates entries; has the limits.
#[derive(Clone)]
pub(super) struct EntryFactory {
    pub decoder: Arc<dyn EntryDecoder>,
    pub budget: Arc<CacheBudget>,
    /// Maximum number of changes in the queue of a watcher.
    pub queue: usize,
}

impl EntryFactory {
    pub fn entry(&self, kv: &KeyValue) -> Arc<Entry> {
        let description = match &kv.damage {
            None => self.decoder.describe(kv),
            Some(why) => Description { damage: Some(Damage::Untransformable(why.clone())), ..Description::default() },
        };
        self.make(kv.key.clone(), kv.mod_revision, description)
    }

    pub fn at_revision(&self, entry: &Entry, revision: Revision) -> Arc<Entry> {
        let description = match &entry.damage {
            None => self.decoder.at_revision(entry, revision),
            Some(why) => Description { damage: Some(why.clone()), ..Description::default() },
        };
        self.make(entry.key.clone(), revision, description)
    }

    fn make(&self, key: bytes::Bytes, revision: Revision, description: Description) -> Arc<Entry> {
        Arc::new(Entry::new(key, revision, description, self.budget.clone()))
    }
}
