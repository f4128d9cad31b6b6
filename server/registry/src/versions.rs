//! Conversion between the versions of a kind, and the form of stored objects.

use std::sync::Arc;

use async_trait::async_trait;
use machinery::catalog::KindDef;
use machinery::def::JsonForm;
use machinery::reflect::Owned;
use machinery::status::Status;
use storage::cache::{Entry, LabelsAndFields};

/// Conversion between the version of a store's users and those of stored objects.
#[async_trait]
pub trait VersionConverter: Send + Sync {
    /// Returns whether objects are stored in the users' version.
    fn is_stored(&self) -> bool;

    /// Returns whether an entry is already in the users' version.
    fn is_read(&self, entry: &Entry) -> bool;

    /// Returns whether selectors must evaluate the converted object.
    ///
    /// Entries in other versions lack its labels and fields then.
    fn selects_converted(&self) -> bool;

    /// Returns the attributes of an entry in the users' version.
    ///
    /// They are empty when the entry is unreadable.
    fn attributes(&self, entry: &Entry) -> LabelsAndFields;

    /// Converts entries to the users' version.
    ///
    /// # Errors
    /// The Status for the client when the conversion of an entry fails.
    async fn read(&self, entries: Vec<Arc<Entry>>) -> Result<Vec<Arc<Entry>>, Status>;

    /// Encodes an object of the users' version for storage, without its resourceVersion.
    ///
    /// The object keeps its resourceVersion.
    ///
    /// # Errors
    /// The Status for the client when the conversion to the storage version fails.
    async fn write(&self, object: &mut Owned) -> Result<Vec<u8>, Status>;
}

/// Returns whether entries of a kind hold JSON text.
///
/// Those of other kinds hold protobuf messages.
pub fn is_text(kind: &KindDef) -> bool {
    kind.def.json_form == JsonForm::Open
}
