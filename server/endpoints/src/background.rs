//! Interface to work of a server besides requests, such as controllers.

use std::sync::Arc;

use async_trait::async_trait;
use request::Handler;

use crate::loopback::Loopback;
use crate::server_context::ServerContext;

/// The parts of a server that background work uses.
pub struct RunningServer {
    /// Stores, informers and options.
    pub environment: Arc<ServerContext>,
    /// Typed requests for the kinds of the catalog.
    pub loopback: Arc<Loopback>,
    /// All servers of the delegation chain, without filters. A request needs its
    /// [`request::RequestInfo`] and its user as extensions.
    pub handler: Arc<dyn Handler>,
}

/// Work of a server besides requests.
#[async_trait]
pub trait Background: Send + Sync {
    /// Starts the work, once all resources are served and before `/readyz` succeeds. Ends with the
    /// shutdown of the server. Returns the handler of authorized requests of clients: that of the
    /// server, or one around it.
    async fn start(&self, server: RunningServer) -> Arc<dyn Handler>;
}
