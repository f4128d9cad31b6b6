//! Running the server: options, certificates, store, chain, listener.

use std::ffi::OsString;
use std::sync::Arc;

use endpoints::Behaviour;
use machinery::catalog::Catalog;
use serving::authentication::{Authentication, TokenFile};
use serving::authorization::{AlwaysAllow, AlwaysDeny, Authorizer, Union};
use serving::certificates::Certificates;
use serving::chain::Chain;
use serving::health::{Health, HealthHandler};
use serving::listener::Listener;
use serving::metrics::Metrics;
use serving::options::{AuthorizationMode, Options};
use serving::shutdown::Shutdown;
use serving::version::VersionHandler;
use serving::{BoxFuture, Handler, Request, Response};
use storage::{EmbeddedStore, Store};

use crate::delegation;
use crate::public_paths::PublicPaths;

/// Serves until told to stop. The error is text for a person.
pub fn serve(catalog: &'static Catalog, behaviour: Arc<dyn Behaviour>, args: Vec<OsString>) -> Result<(), String> {
    let options = match Options::parse_from(args) {
        Ok(options) => options,
        Err(serving::Error::Print(text)) => {
            println!("{text}");
            return Ok(());
        }
        Err(error) => return Err(format!("error: {error}")),
    };
    init_logging(options.verbosity);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|e| format!("error: {e}"))?;
    runtime.block_on(serve_async(catalog, behaviour, Arc::new(options)))
}

fn init_logging(verbosity: u8) {
    let level = match verbosity {
        0..=1 => tracing::Level::WARN,
        2..=3 => tracing::Level::INFO,
        4..=5 => tracing::Level::DEBUG,
        _ => tracing::Level::TRACE,
    };
    // Logging is set up once per process; a second server in it keeps the first one's.
    let _ = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).try_init();
}

async fn serve_async(
    catalog: &'static Catalog,
    behaviour: Arc<dyn Behaviour>,
    options: Arc<Options>,
) -> Result<(), String> {
    let text = |e: &dyn std::fmt::Display| format!("error: {e}");
    let shutdown = Shutdown::default();
    shutdown.on_signals().map_err(|e| text(&e))?;
    let certificates = Certificates::prepare(&options).map_err(|e| text(&e))?;
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(options.data_dir.join("store")).map_err(|e| text(&e))?);
    let delegation = delegation::build(catalog, &behaviour, options.clone(), store.clone()).map_err(|e| text(&e))?;
    let health = Health::new(&shutdown);
    let bootstrap = health.pending("poststarthook/bootstrap-controller");
    let root = Root { health: HealthHandler(health), version: VersionHandler::default(), next: delegation.handler };
    let chain = Chain {
        options: &options,
        authentication: authentication(&options)?,
        authorizer: authorizer(&options),
        metrics: Metrics::default(),
        shutdown: shutdown.clone(),
    };
    let handler = chain.around(root).map_err(|e| text(&e))?;
    let listener = Listener::bind(&options, &certificates).map_err(|e| text(&e))?;
    let address = listener.address().map_err(|e| text(&e))?;
    behaviour.bootstrap(&delegation.environment).await.map_err(|e| text(&e))?;
    bootstrap.done();
    if let Some(path) = certificates.write_kubeconfig(address).map_err(|e| text(&e))? {
        eprintln!(
            "Serving the Kubernetes API on https://{address}. Try:\n  kubectl --kubeconfig {} get namespaces",
            path.display()
        );
    }
    listener.serve(handler, &shutdown).await;
    store.close().await.map_err(|e| text(&e))
}

fn authentication(options: &Options) -> Result<Authentication, String> {
    let authentication = Authentication::new(options.authentication.anonymous);
    match &options.authentication.token_auth_file {
        Some(path) => {
            let tokens = TokenFile::load(path).map_err(|e| format!("error: {e}"))?;
            Ok(authentication.with_tokens(Arc::new(tokens)))
        }
        None => Ok(authentication),
    }
}

fn authorizer(options: &Options) -> Arc<dyn Authorizer> {
    let modes = options.authorization_modes.iter().map(|mode| -> Arc<dyn Authorizer> {
        match mode {
            AuthorizationMode::AlwaysAllow => Arc::new(AlwaysAllow),
            AuthorizationMode::AlwaysDeny => Arc::new(AlwaysDeny),
            // The union asks for system:masters first; rules of stored roles are not evaluated yet (docs/status.md).
            AuthorizationMode::Rbac => Arc::new(PublicPaths),
        }
    });
    Arc::new(Union::new(modes))
}

/// Health, version and metrics, before the delegation chain.
struct Root {
    health: HealthHandler,
    version: VersionHandler,
    next: Arc<dyn Handler>,
}

impl Handler for Root {
    fn handle(&self, request: Request) -> BoxFuture<'_, Response> {
        let path = request.uri().path();
        let health = ["/healthz", "/livez", "/readyz"];
        if health
            .iter()
            .any(|root| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
        {
            return self.health.handle(request);
        }
        if path == "/version" || path == "/version/" {
            return self.version.handle(request);
        }
        self.next.handle(request)
    }
}
