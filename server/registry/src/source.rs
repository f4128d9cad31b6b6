//! The source of the objects of a resource.

use std::sync::Arc;

use machinery::catalog::KindDef;
use machinery::protobuf::{self, Mask};
use machinery::reflect::Owned;
use machinery::status::Status;
use storage::cache::Entry;

use crate::resource::ResourceStore;
use crate::stored;

/// A store, or a computation per request.
#[derive(Clone)]
pub enum ObjectSource {
    /// The store of a resource.
    Stored(Arc<ResourceStore>),
    /// A computation; its entries have this version ([`computed_entry`]).
    Computed(&'static KindDef),
}

impl ObjectSource {
    /// Returns the kind in the version of the entries.
    pub fn storage_kind(&self) -> &'static KindDef {
        match self {
            ObjectSource::Stored(store) => store.storage_kind,
            &ObjectSource::Computed(kind) => kind,
        }
    }

    /// Decodes the object of an entry, in hub form.
    ///
    /// # Errors
    /// 500 when the entry is damaged.
    pub fn object(&self, entry: &Entry) -> Result<Owned, Status> {
        match self {
            ObjectSource::Stored(store) => store.object(entry),
            &ObjectSource::Computed(kind) => stored::decode(kind, entry, None),
        }
    }

    /// Decodes the part of an entry that a mask of its version selects.
    ///
    /// # Errors
    /// As [`ObjectSource::object`].
    pub fn part(&self, entry: &Entry, mask: &Mask) -> Result<Owned, Status> {
        match self {
            ObjectSource::Stored(store) => store.part(entry, mask),
            &ObjectSource::Computed(kind) => stored::decode(kind, entry, Some(mask)),
        }
    }
}

/// Creates the entry of a computed object in hub form.
pub fn computed_entry(kind: &'static KindDef, object: &Owned) -> Arc<Entry> {
    let mut message = Vec::new();
    protobuf::encode(kind.from_hub(object.clone()).as_ref(), &mut message);
    Arc::new(Entry::detached(message.into()))
}
