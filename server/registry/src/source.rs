//! Where the objects of a resource come from that is read.

use std::sync::Arc;

use machinery::catalog::KindDef;
use machinery::protobuf::{self, Mask};
use machinery::reflect::Owned;
use machinery::status::Status;
use storage::cache::Entry;

use crate::resource::ResourceStore;
use crate::stored;

/// A store, or nothing for objects that are computed for each request.
#[derive(Clone)]
pub enum Source {
    Stored(Arc<ResourceStore>),
    /// Entries are of this version ([`computed_entry`]).
    Computed(&'static KindDef),
}

impl Source {
    /// The version of the kind that entries have.
    pub fn storage_kind(&self) -> &'static KindDef {
        match self {
            Source::Stored(store) => store.storage_kind,
            &Source::Computed(kind) => kind,
        }
    }

    /// The object of an entry, in hub form.
    ///
    /// # Errors
    /// When the entry is damaged.
    pub fn object(&self, entry: &Entry) -> Result<Owned, Status> {
        match self {
            Source::Stored(store) => store.object(entry),
            &Source::Computed(kind) => stored::decode(kind, entry, None),
        }
    }

    /// No more of it than a mask of the entry's version wants.
    ///
    /// # Errors
    /// As [`Source::object`].
    pub fn part(&self, entry: &Entry, mask: &Mask) -> Result<Owned, Status> {
        match self {
            Source::Stored(store) => store.part(entry, mask),
            &Source::Computed(kind) => stored::decode(kind, entry, Some(mask)),
        }
    }
}

/// The entry of an object, in hub form, that is not stored.
pub fn computed_entry(kind: &'static KindDef, object: &Owned) -> Arc<Entry> {
    let mut message = Vec::new();
    protobuf::encode(kind.from_hub(object.clone()).as_ref(), &mut message);
    Arc::new(Entry::detached(message.into()))
}
