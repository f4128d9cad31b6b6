//! The metadata that the garbage collector reads of an object, in its stored version.

use machinery::protobuf::Mask;
use machinery::status::Status;
use registry::{ResourceStore, is_text, meta};
use serde::Deserialize;
use storage::cache::Entry;

/// The finalizers with which an object waits for the garbage collector.
pub const FOREGROUND: &str = "foregroundDeletion";
pub const ORPHAN: &str = "orphan";

/// An owner of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Owner {
    pub api_version: String,
    pub kind: String,
    pub name: String,
    pub uid: String,
    pub controller: Option<bool>,
    pub block_owner_deletion: Option<bool>,
}

/// The metadata of an object.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    pub name: String,
    pub namespace: String,
    pub uid: String,
    pub resource_version: String,
    pub finalizers: Vec<String>,
    pub owner_references: Vec<Owner>,
    deletion_timestamp: Option<String>,
    #[serde(skip)]
    deleting: bool,
}

#[derive(Deserialize)]
struct Document {
    metadata: Metadata,
}

impl Metadata {
    /// Decodes the metadata of an entry. `mask` is that of [`mask`].
    ///
    /// # Errors
    /// The entry is damaged.
    pub fn of(store: &ResourceStore, entry: &Entry, mask: &Mask) -> Result<Self, Status> {
        if is_text(store.storage_kind) {
            let document: Document = serde_json::from_slice(&entry.object).map_err(Status::internal)?;
            let deleting = document.metadata.deletion_timestamp.is_some();
            let resource_version = entry.revision.to_string();
            return Ok(Metadata { deleting, resource_version, ..document.metadata });
        }
        let object = store.part(entry, mask)?;
        let meta = meta(object.as_ref()).cloned().unwrap_or_default();
        let owner = |owner: apimachinery::meta::v1::OwnerReference| Owner {
            api_version: owner.api_version,
            kind: owner.kind,
            name: owner.name,
            uid: owner.uid,
            controller: owner.controller,
            block_owner_deletion: owner.block_owner_deletion,
        };
        Ok(Metadata {
            name: meta.name,
            namespace: meta.namespace,
            uid: meta.uid,
            resource_version: entry.revision.to_string(),
            finalizers: meta.finalizers,
            owner_references: meta.owner_references.into_iter().map(owner).collect(),
            deletion_timestamp: None,
            deleting: meta.deletion_timestamp.is_some(),
        })
    }

    /// Whether its deletion was requested.
    pub fn is_deleting(&self) -> bool {
        self.deleting
    }

    /// Whether it has a finalizer.
    pub fn has_finalizer(&self, name: &str) -> bool {
        self.finalizers.iter().any(|finalizer| finalizer == name)
    }

    /// Whether it waits for its dependents to be deleted.
    pub fn waits_for_dependents(&self) -> bool {
        self.deleting && self.has_finalizer(FOREGROUND)
    }

    /// Whether it waits for its dependents to be orphaned.
    pub fn waits_for_orphans(&self) -> bool {
        self.deleting && self.has_finalizer(ORPHAN)
    }
}

/// Selects the metadata that is read.
pub fn mask(store: &ResourceStore) -> Mask {
    let mut mask = Mask::new(store.storage_kind.def);
    if !is_text(store.storage_kind) {
        for field in ["name", "namespace", "uid", "finalizers", "ownerReferences", "deletionTimestamp"] {
            mask.add(&["metadata", field]);
        }
    }
    mask
}
