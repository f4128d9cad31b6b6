//! The API server as a library: the declared API groups and the server.

use std::sync::Arc;

use apiserver::{Error, InProcess, Server};
use controlplane::ControlPlane;

/// Builds `kube-apiserver` with Kubernetes' API groups and custom ones.
pub fn server() -> Server {
    Server::new(own::catalog(), Arc::new(ControlPlane))
}

/// An API server for tests.
pub struct TestServer;

impl TestServer {
    /// Starts a server in this process with the objects of a new cluster. It has a kubeconfig and a
    /// client, and stops when it is dropped.
    ///
    /// # Errors
    /// When the server cannot start. The text of the error is for users.
    pub fn start() -> Result<InProcess, Error> {
        server().start()
    }
}
