//! The API server as a library: the declared API groups and the server.
//!
//! `docs/library.md` describes its uses. A server of custom groups only needs the crate `apiserver`.

#![deny(missing_docs)]
#![deny(clippy::missing_errors_doc)]

use std::sync::Arc;

use apiserver::{Error, InProcess, Server};
use controllers::Controllers;
use controlplane::ControlPlane;

/// Builds `kube-apiserver` with Kubernetes' API groups and custom ones.
///
/// The returned [`Server`] accepts further flags, admission plugins and a store. `run()` runs the
/// program, and `start()` starts it in this process.
pub fn server() -> Server {
    let behaviour = Arc::new(ControlPlane::new(admission::build));
    Server::new(own::catalog(), behaviour).background(Arc::new(Controllers))
}

/// An API server for tests.
///
/// # Examples
/// ```
/// use kube_apiserver::TestServer;
///
/// let server = TestServer::start()?;
/// assert!(server.url.starts_with("https://127.0.0.1:"));
/// assert!(server.kubeconfig().exists());
/// # Ok::<(), apiserver::Error>(())
/// ```
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
