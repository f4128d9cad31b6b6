//! The description of a custom resource, from which its documents are built.

use serde_json::Value;

use crate::catalog::Scope;

/// One version of a custom resource.
#[derive(Clone, Debug, Default)]
pub struct CustomResource {
    pub group: String,
    pub version: String,
    pub plural: String,
    pub kind: String,
    pub list_kind: String,
    pub scope: Scope,
    /// The structural schema, `openAPIV3Schema`.
    pub schema: Option<Value>,
    /// Whether objects keep fields that the schema does not specify.
    pub preserves_unknown_fields: bool,
    /// Paths of the selectable fields.
    pub selectable: Vec<String>,
    pub has_status: bool,
    pub has_scale: bool,
}

/// The kind of document that definitions are built for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenApiVersion {
    V2,
    V3,
}
