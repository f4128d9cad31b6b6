//! Running the server: options, store, delegation chain, and the front that they are served through.

use std::ffi::OsString;
use std::sync::Arc;

use encryption::Encryption;
use endpoints::Behaviour;
use machinery::catalog::Catalog;
use serving::options::Options;
use serving::{Front, Server, identity};

use crate::backends::Backends;
use crate::list_sizes::ResourceSizes;
use crate::metered_store::StoreMetrics;
use crate::{delegation, store_monitor};

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
    serving::logging::init(options.verbosity);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|e| format!("error: {e}"))?;
    runtime.block_on(serve_async(catalog, behaviour, options))
}

async fn serve_async(catalog: &'static Catalog, behaviour: Arc<dyn Behaviour>, options: Options) -> Result<(), String> {
    let text = |e: &dyn std::fmt::Display| format!("error: {e}");
    let server = Server::prepare(options).map_err(|e| text(&e))?;
    let options = server.options.clone();
    let encryption = encryption(&server).await.map_err(|e| text(&e))?;
    let metrics = StoreMetrics::new(catalog, server.metrics.registry());
    let backends = Arc::new(Backends::open(catalog, &options, encryption, &metrics).await.map_err(|e| text(&e))?);
    let delegation = delegation::build(catalog, &behaviour, &server, &backends).map_err(|e| text(&e))?;
    let resources = &delegation.environment.stores;
    if let Some(control) = &server.flow_control {
        control.set_list_sizes(Box::new(ResourceSizes::new(resources, &backends, &options.storage.prefix)));
    }
    store_monitor::start(&backends, resources, &options.storage, &server.health, server.metrics.registry()).await;
    let bootstrap = server.health.pending("poststarthook/bootstrap-controller");
    behaviour.bootstrap(&delegation.environment, &delegation.loopback).await.map_err(|e| text(&e))?;
    bootstrap.done();
    let synced = server.health.pending("poststarthook/crd-informer-synced");
    apiextensions::start(delegation.custom.clone(), delegation.loopback.clone()).await;
    synced.done();
    let front = Front {
        handler: delegation.handler,
        paths: Box::new(move || delegation.discovery.paths()),
        access: delegation.environment.access.clone(),
    };
    server.run(front).await.map_err(|e| text(&e))?;
    backends.close().await.map_err(|e| text(&e))
}

/// What is encrypted in the stores, and its health check where that can fail.
async fn encryption(server: &Server) -> Result<Arc<Encryption>, String> {
    let Some(options) = &server.options.storage.encryption else { return Ok(Encryption::none()) };
    let identity = identity::of_host(&identity::hostname());
    let registry = server.metrics.registry();
    let encryption = Encryption::open(&options.file, options.reload, registry, &identity).await?;
    if options.reload || encryption.has_plugins() {
        let checked = encryption.clone();
        server.health.add_without_livez("kms-providers", move || checked.health());
    }
    Ok(encryption)
}
