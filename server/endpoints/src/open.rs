//! The seam to kinds of open form, which are made at run time: what their schema says, and no descriptor can.

use std::sync::Arc;

use machinery::budget::{DecodeError, Exceeded};
use machinery::catalog::KindDef;
use machinery::json::Issues;
use machinery::print::CustomColumn;
use machinery::reflect::Owned;
use machinery::status::Status;
use patch::schema::Type;
use serde_json::Value;

use crate::endpoint::Endpoint;

/// Why an object of open form cannot be completed.
#[derive(Debug, thiserror::Error)]
pub enum Incomplete {
    /// A part of it cannot be read.
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

/// Where an object comes from that is to be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A body, or what a patch made: a null that is not allowed is dropped.
    RequestDocument,
    /// What an apply made. A null that is not allowed stays, and validation refuses it.
    Applied,
    /// The store, which has to stay readable: nothing is bounded.
    Stored,
}

/// Finds what is served of custom resources.
pub trait CustomEndpoints: Send + Sync {
    /// The endpoint of a kind; nothing when no definition serves it.
    fn of_kind(&self, group: &str, version: &str, kind: &str) -> Option<Arc<Endpoint>>;
}

/// A kind of open form in one version: a custom resource.
pub trait OpenKind: Send + Sync {
    /// How the fields of a version merge; nothing when there is no such version.
    fn merge_type(&self, api_version: &str) -> Option<Type<'_>>;

    /// Does to a decoded object what decoding does to a declared type: drops what the schema does not know and tells of it, fills in
    /// defaults.
    ///
    /// # Errors
    /// When what is not the schema's affair, such as the metadata of an object within the object, cannot be read; when defaults take
    /// more memory than they may.
    fn complete(&self, object: &mut Owned, origin: Origin, issues: &mut Issues) -> Result<(), Incomplete>;

    /// A document in another version of the kind.
    ///
    /// # Errors
    /// When there is no such version, or whoever converts fails.
    fn convert(&self, document: &Value, api_version: &str) -> Result<Value, Status>;

    /// The kinds of all served versions (upstream: `EquivalentResourceRegistry`).
    fn served(&self) -> Vec<&'static KindDef>;

    /// Where each version has the replicas that its `scale` shows, in names with dots between them; nothing where it has no `scale`.
    fn replicas(&self) -> Vec<(String, Option<&'static str>)>;

    /// The columns of a version's tables; nothing where the default ones are shown.
    fn columns(&self, api_version: &str) -> Option<Arc<[CustomColumn]>>;

    /// What everybody who uses it is warned of.
    fn warnings(&self) -> &[String];

    /// Its structural schema, as far as documents show it.
    fn schema(&self) -> Option<Value>;

    /// Whether objects keep whatever the schema does not know.
    fn preserves_unknown_fields(&self) -> bool;

    /// What its documents are made from; another text whenever they may differ.
    fn revision(&self) -> String;
}
