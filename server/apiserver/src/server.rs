//! Builder of a server.

use std::sync::Arc;

use endpoints::{Admission, Background, KindExtensions};
use machinery::catalog::Catalog;
use machinery::features::KnownGates;
use options::ServerProgram;
use storage::Store;

use crate::Error;

/// A server to build.
///
/// The options of the server are methods. [`run`](Self::run) starts the program, and
/// [`start`](Self::start) a server in the process of a test.
///
/// # Examples
/// The program of a crate with definitions. Its generated library has the catalog.
///
/// ```
/// use std::process::ExitCode;
///
/// use apiserver::Server;
/// use machinery::catalog::Catalog;
///
/// fn run(groups: &'static Catalog) -> ExitCode {
///     Server::delegating("shop-apiserver", groups).flags(["--secure-port=7443"]).run()
/// }
/// ```
pub struct Server {
    pub(crate) catalog: &'static Catalog,
    pub(crate) behaviour: Arc<dyn KindExtensions>,
    pub(crate) program: ServerProgram,
    pub(crate) store: Option<Arc<dyn Store>>,
    pub(crate) admission: Vec<Arc<dyn Admission>>,
    pub(crate) background: Option<Arc<dyn Background>>,
    pub(crate) flags: Vec<String>,
}

/// The default: kinds have no extensions.
struct NoBehaviour;

impl KindExtensions for NoBehaviour {}

impl Server {
    /// Creates `kube-apiserver`: all of the catalog, with these kind extensions.
    pub fn new(catalog: &'static Catalog, behaviour: Arc<dyn KindExtensions>) -> Self {
        Self::of(ServerProgram::KubeApiserver, catalog, behaviour)
    }

    /// Creates a program with this name that serves the catalog behind another API server. That
    /// server authenticates and authorizes its clients. The program has no kinds, namespaces or
    /// roles of Kubernetes.
    pub fn delegating(name: &'static str, catalog: &'static Catalog) -> Self {
        Self::of(ServerProgram::Delegating(name), catalog, Arc::new(NoBehaviour))
    }

    fn of(program: ServerProgram, catalog: &'static Catalog, behaviour: Arc<dyn KindExtensions>) -> Self {
        let (admission, flags) = (Vec::new(), Vec::new());
        Server { catalog, behaviour, program, store: None, admission, background: None, flags }
    }

    /// Sets the kind extensions: handlers of subresources, initial objects.
    #[must_use]
    pub fn behaviour(self, behaviour: Arc<dyn KindExtensions>) -> Self {
        Server { behaviour, ..self }
    }

    /// Sets the work of the server besides requests: its controllers.
    #[must_use]
    pub fn background(self, background: Arc<dyn Background>) -> Self {
        Server { background: Some(background), ..self }
    }

    /// Sets the store, regardless of flags. The default is the data directory, or etcd
    /// (`--etcd-servers`).
    #[must_use]
    pub fn store(self, store: Arc<dyn Store>) -> Self {
        Server { store: Some(store), ..self }
    }

    /// Appends an admission plugin.
    #[must_use]
    pub fn admission(mut self, plugin: impl Admission + 'static) -> Self {
        self.admission.push(Arc::new(plugin));
        self
    }

    /// Adds flags, such as `--feature-gates=ShopSale=true`. Flags of the command line override
    /// them.
    #[must_use]
    pub fn flags<T: Into<String>>(mut self, flags: impl IntoIterator<Item = T>) -> Self {
        self.flags.extend(flags.into_iter().map(Into::into));
        self
    }

    /// Returns the known feature gates.
    pub(crate) fn gates(&self) -> Result<KnownGates, Error> {
        self.catalog.gates().map_err(|why| Error::Gates(why.into()))
    }
}
