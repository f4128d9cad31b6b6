//! Options of documents, and the kinds that all documents share.

use serde_json::{Value, json};

use crate::catalog::Catalog;
use crate::names;

/// Server options that affect the documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenApiOptions {
    /// `info.version`, the release such as `1.36`.
    pub version: String,
    /// Whether the endpoints of the service account issuer are served.
    pub service_account_issuer: bool,
    /// Whether `/logs` is served: `--enable-logs-handler`.
    pub logs: bool,
}

impl Default for OpenApiOptions {
    fn default() -> Self {
        OpenApiOptions { version: "unversioned".into(), service_account_issuer: true, logs: false }
    }
}

/// Whether a definition belongs to every group version: `DeleteOptions` and `WatchEvent`.
pub(crate) fn is_shared_by_all(definition: &str) -> bool {
    definition == names::DELETE_OPTIONS || definition == names::WATCH_EVENT
}

/// The kinds of a definition that belongs to every group version, in all known versions.
pub(crate) fn kinds_of_all(catalog: &Catalog, definition: &str) -> Value {
    let kind = definition.rsplit('.').next().unwrap_or(definition);
    let kinds = catalog.known_versions.iter();
    kinds.map(|(group, version)| json!({"group": group, "kind": kind, "version": version})).collect()
}
