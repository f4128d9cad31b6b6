//! Builder of a server.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use endpoints::{Admission, KindExtensions};
use machinery::catalog::Catalog;
use machinery::features::KnownGates;
use options::{Options, Program};
use storage::Store;

use crate::error::CommandError;
use crate::in_process::InProcess;
use crate::{Error, convert_command, help_command, huge_pages, new_command, run, snapshot_command, standard_output};

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
    pub(crate) program: Program,
    pub(crate) store: Option<Arc<dyn Store>>,
    pub(crate) admission: Vec<Arc<dyn Admission>>,
    pub(crate) flags: Vec<String>,
}

/// The default: kinds have no extensions.
struct NoBehaviour;

impl KindExtensions for NoBehaviour {}

impl Server {
    /// Creates `kube-apiserver`: all of the catalog, with these kind extensions.
    pub fn new(catalog: &'static Catalog, behaviour: Arc<dyn KindExtensions>) -> Self {
        Self::of(Program::KubeApiserver, catalog, behaviour)
    }

    /// Creates a program with this name that serves the catalog behind another API server. That
    /// server authenticates and authorizes its clients. The program has no kinds, namespaces or
    /// roles of Kubernetes.
    pub fn delegating(name: &'static str, catalog: &'static Catalog) -> Self {
        Self::of(Program::Delegating(name), catalog, Arc::new(NoBehaviour))
    }

    fn of(program: Program, catalog: &'static Catalog, behaviour: Arc<dyn KindExtensions>) -> Self {
        Server { catalog, behaviour, program, store: None, admission: Vec::new(), flags: Vec::new() }
    }

    /// Sets the kind extensions: handlers of subresources, initial objects.
    #[must_use]
    pub fn behaviour(self, behaviour: Arc<dyn KindExtensions>) -> Self {
        Server { behaviour, ..self }
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

    /// Runs the program with its command line arguments until a signal stops it.
    pub fn run(self) -> ExitCode {
        huge_pages::disable();
        match self.run_with(std::env::args_os().collect()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        }
    }

    /// Starts the server in this process for a test, on a free port and with a temporary data
    /// directory. Blocks until it is ready. A delegating server does not delegate here: only the
    /// administrator of its kubeconfig has access.
    ///
    /// # Errors
    /// Returns an error if it cannot start; its text is for the user.
    pub fn start(self) -> Result<InProcess, Error> {
        InProcess::start(self)
    }

    /// Returns the known feature gates.
    pub(crate) fn gates(&self) -> Result<KnownGates, Error> {
        self.catalog.gates().map_err(|why| Error::Gates(why.into()))
    }

    fn run_with(self, args: Vec<OsString>) -> Result<(), Error> {
        let rest = args.get(1..).unwrap_or_default();
        match options::subcommand(rest) {
            Some(("convert", rest)) => return Ok(convert_command::run(self.catalog, rest)?),
            Some(("new", rest)) if !self.program.delegates() => return Ok(new_command::run(rest)?),
            Some(("snapshot", rest)) => return snapshot_command::run(rest),
            Some(("help", rest)) => return Ok(help_command::run(self.program, &self.gates()?, rest)?),
            Some((other, _)) => {
                let known = self.program.commands().join(", ");
                return Err(CommandError::UnknownCommand { command: other.to_owned(), known }.into());
            }
            None => {}
        }
        let own = self.flags.iter().map(OsString::from);
        let all = args.iter().take(1).cloned().chain(own).chain(rest.iter().cloned());
        match Options::parse_for(self.program, &self.gates()?, all) {
            Ok(options) => {
                options.deprecated.iter().for_each(|warning| eprintln!("{warning}"));
                Ok(run::run_until_shutdown(&self, options)?)
            }
            Err(options::Error::Print(text)) => Ok(standard_output::print_line(text)?),
            Err(error) => Err(CommandError::from(error).into()),
        }
    }
}
