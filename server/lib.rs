//! The API server as a library: what was declared, joined with the servers.

use std::sync::Arc;

use apiserver::{InProcess, Server};
use controlplane::ControlPlane;

/// `kube-apiserver`: Kubernetes' groups and those of your own.
pub fn server() -> Server {
    Server::new(own::catalog(), Arc::new(ControlPlane))
}

/// An API server in a test.
pub struct TestServer;

impl TestServer {
    /// Starts a server in this process, with everything that a cluster begins with. It has a kubeconfig and a client, and ends when it is
    /// dropped.
    ///
    /// # Errors
    /// When it cannot start; the text is for a person.
    pub fn start() -> Result<InProcess, String> {
        server().start()
    }
}
