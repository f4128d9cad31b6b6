//! Interface to kinds of open form, which are defined at run time: their schema, which descriptors
//! cannot express.

use std::sync::Arc;

use machinery::budget::{DecodeError, Exceeded};
use machinery::catalog::KindDef;
use machinery::json::Issues;
use machinery::print::CustomColumn;
use machinery::reflect::Owned;
use machinery::status::Status;
use patch::schema::SchemaType;
use serde_json::Value;

/// Errors of completing an object of open form.
#[derive(Debug, thiserror::Error)]
pub enum Incomplete {
    /// A part of the object is malformed.
    #[error("{0}")]
    Malformed(String),
    /// Its defaults take too much memory.
    #[error(transparent)]
    TooLarge(#[from] Exceeded),
}

impl DecodeError for Incomplete {
    fn exceeded(&self) -> Option<Exceeded> {
        match self {
            Incomplete::Malformed(_) => None,
            Incomplete::TooLarge(exceeded) => Some(*exceeded),
        }
    }
}

/// The origin of an object to complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A body, or the result of a patch: a null that is not allowed is dropped.
    RequestDocument,
    /// The result of an apply. A null that is not allowed is kept, and validation rejects it.
    Applied,
    /// The store. No limits apply, so that stored objects stay readable.
    Stored,
}

/// A kind of open form in one version: a custom resource.
pub trait OpenKind: Send + Sync {
    /// Returns the merge schema of a version; nothing if the version does not exist.
    fn merge_type(&self, api_version: &str) -> Option<SchemaType<'_>>;

    /// Prunes fields that the schema does not have, reports them, and applies defaults. Decoding
    /// does the same for a declared type.
    ///
    /// # Errors
    /// Returns an error if a part outside the schema, such as the metadata of an embedded object,
    /// is malformed. Returns an error if defaults exceed the memory limit.
    fn complete(&self, object: &mut Owned, origin: Origin, issues: &mut Issues) -> Result<(), Incomplete>;

    /// Converts a document to another version of the kind.
    ///
    /// # Errors
    /// Returns an error if the version does not exist, or if the conversion fails.
    fn convert(&self, document: &Value, api_version: &str) -> Result<Value, Status>;

    /// The kinds of all served versions (upstream: `EquivalentResourceRegistry`).
    fn served(&self) -> Vec<&'static KindDef>;

    /// The dotted path of the replicas that `scale` returns, by version; `None` where a version has
    /// no `scale`.
    fn replicas(&self) -> Vec<(String, Option<&'static str>)>;

    /// The table columns of a version; nothing if it has the default columns.
    fn columns(&self, api_version: &str) -> Option<Arc<[CustomColumn]>>;

    /// Warnings for every request of the kind.
    fn warnings(&self) -> &[String];

    /// The structural schema, as published in OpenAPI documents.
    fn schema(&self) -> Option<Value>;

    /// Whether objects keep unknown fields.
    fn preserves_unknown_fields(&self) -> bool;

    /// The sources of its OpenAPI documents. The text changes whenever the documents may change.
    fn revision(&self) -> String;
}
