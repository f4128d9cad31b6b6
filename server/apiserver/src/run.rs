//! Runs a server: stores, delegation chain and HTTP front end.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use encryption::Encryption;
use endpoints::RunningServer;
use options::{Options, identity};
use serving::{Handlers, certificates};

use crate::backends::Backends;
use crate::cache_metrics::CacheMetrics;
use crate::error::RunError;
use crate::etcd_service::EtcdService;
use crate::list_sizes::ResourceSizes;
use crate::metered_store::StoreMetrics;
use crate::namespaces::Namespaces;
use crate::{Server, delegation, huge_pages, store_monitor};

/// Maximum number of polls before a worker checks for I/O events. Many polls encode pieces of long
/// lists, at 250 µs each. With tokio's default, a short request would wait for sixty of them. A
/// check costs a hundredth of a GET.
pub(crate) const POLLS_BETWEEN_EVENTS: u32 = 2;

/// How long the server waits for etcd before it reports the wait.
const PATIENCE: Duration = Duration::from_secs(5);

/// Serves until a signal stops the process.
///
/// # Errors
/// The server cannot start, or a store fails permanently.
pub fn run_until_shutdown(server: &Server, options: Options) -> Result<(), RunError> {
    telemetry::logging::init(&options.logs);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().event_interval(POLLS_BETWEEN_EVENTS).build().map_err(RunError::Runtime)?;
    runtime.block_on(async {
        let PreparedServer { listening, front, backends, etcd } = PreparedServer::make(server, options).await?;
        tokio::spawn(huge_pages::enable_when_large());
        tokio::select! {
            ended = listening.run(front) => ended?,
            error = backends.failed() => {
                tracing::error!(%error, "the store failed permanently; shutting down");
                return Err(error.into());
            }
        }
        etcd.stop().await;
        Ok(backends.close().await?)
    })
}

/// A server that is ready to serve.
pub struct PreparedServer {
    pub listening: serving::Server,
    pub front: Handlers,
    pub backends: Arc<Backends>,
    /// The store, served to other API servers.
    pub etcd: EtcdService,
}

impl PreparedServer {
    /// Opens the stores, builds the chain and creates initial objects.
    ///
    /// # Errors
    /// A file or a store is unusable, or the initial objects cannot be created.
    pub async fn make(server: &Server, mut options: Options) -> Result<Self, RunError> {
        certificates::look_up(&mut options).await?;
        let mut listening = serving::Server::prepare(options)?;
        listening.connect_signer().await?;
        let options = listening.options.clone();
        let encryption = encryption(&listening).await?;
        let registry = listening.metrics.registry();
        let metrics = StoreMetrics::new(server.catalog, registry);
        let servers = &options.storage.etcd.servers;
        let backends = reporting_wait(servers, Backends::open(server, &options, encryption, &metrics)).await;
        let backends = Arc::new(backends.map_err(|why| store_error(why, &options))?);
        let stores = Arc::new(delegation::stores(server, &options, &backends));
        reporting_wait(servers, backends.start()).await?;
        let etcd = EtcdService::start(backends.embedded(), &options.storage.listen).await?;
        let namespaces = Namespaces::of(&options.authentication)?;
        let delegation = delegation::build(server, stores, namespaces, &listening, &backends)?;
        let resources = &delegation.environment.stores;
        if let Some(control) = &listening.flow_control {
            control.set_list_sizes(Box::new(ResourceSizes::new(resources, &backends, &options.storage.prefix)));
        }
        CacheMetrics::register(resources, registry);
        store_monitor::start(&backends, resources, &options.storage, &listening.health, registry).await;
        let bootstrapped = server.behaviour.bootstrap(&delegation.environment, &delegation.loopback).await;
        bootstrapped.map_err(|why| RunError::Bootstrap(why.into()))?;
        if let Some(custom) = &delegation.custom {
            let synced = listening.health.pending("poststarthook/crd-informer-synced");
            apiextensions::start(custom.clone(), delegation.loopback.clone()).await;
            synced.done();
        }
        let handler = match &server.background {
            Some(background) => {
                let (environment, loopback) = (delegation.environment.clone(), delegation.loopback.clone());
                background.start(RunningServer { environment, loopback, handler: delegation.handler }).await
            }
            None => delegation.handler,
        };
        let front = Handlers {
            handler,
            paths: Box::new(move || delegation.discovery.paths()),
            access: delegation.environment.access.clone(),
        };
        Ok(PreparedServer { listening, front, backends, etcd })
    }
}

/// Reports the wait for etcd in the log, while it lasts: the server does not give up.
async fn reporting_wait<T>(servers: &[String], work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        match tokio::time::timeout(PATIENCE, &mut work).await {
            Ok(done) => return done,
            Err(_) if servers.is_empty() => {}
            Err(_) => {
                tracing::warn!(servers = servers.join(","), "waiting for etcd (--etcd-servers), which does not answer")
            }
        }
    }
}

/// Adds the remedy to the error of a data directory that another process uses.
fn store_error(why: storage::Error, options: &Options) -> RunError {
    match why {
        storage::Error::Locked { .. } => RunError::DataInUse { dir: options.data_dir.clone() },
        other => other.into(),
    }
}

/// Opens the encryption of the stores, and adds its health check if it can fail.
async fn encryption(server: &serving::Server) -> Result<Arc<Encryption>, RunError> {
    let Some(options) = &server.options.storage.encryption else { return Ok(Encryption::none()) };
    let identity = identity::of_host(&server.options.serving.hostname);
    let registry = server.metrics.registry();
    let encryption = Encryption::open(&options.file, options.reload, registry, &identity).await?;
    if options.reload || encryption.has_plugins() {
        let checked = encryption.clone();
        server.health.add_without_livez("kms-providers", move || Ok(checked.health()?));
    }
    Ok(encryption)
}
