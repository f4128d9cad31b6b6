//! Endpoints of kinds that are defined at run time.

use std::sync::{Arc, OnceLock, Weak};

use tokio::sync::watch;

use super::endpoint::Endpoint;

/// The endpoints of custom resources, once that server is built. Clones share the value.
pub type LateCustomEndpoints = Arc<OnceLock<Weak<dyn CustomEndpoints>>>;

/// Finds endpoints of custom resources.
pub trait CustomEndpoints: Send + Sync {
    /// Returns the endpoint of a kind; nothing if no definition serves it.
    fn of_kind(&self, group: &str, version: &str, kind: &str) -> Option<Arc<Endpoint>>;

    /// Returns the endpoints of all served versions.
    fn all(&self) -> Vec<Arc<Endpoint>>;

    /// Returns a counter of changes of the endpoints, to wait for the next one.
    fn changes(&self) -> watch::Receiver<u64>;
}
