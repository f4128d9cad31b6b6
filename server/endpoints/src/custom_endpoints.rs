//! Endpoints of kinds that are defined at run time.

use std::sync::Arc;

use super::endpoint::Endpoint;

/// Finds endpoints of custom resources.
pub trait CustomEndpoints: Send + Sync {
    /// Returns the endpoint of a kind; nothing if no definition serves it.
    fn of_kind(&self, group: &str, version: &str, kind: &str) -> Option<Arc<Endpoint>>;
}
