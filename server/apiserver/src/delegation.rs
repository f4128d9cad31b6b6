//! The delegation chain: (peers ->) aggregator -> control plane -> apiextensions -> not found.

use std::path::Path;
use std::sync::Arc;

use aggregator::{AggregatedServers as Aggregated, Aggregator, PeerProxy, WithPeers};
use apiextensions::{Custom, DefinitionStrategy};
use endpoints::{
    Admission, AdmissionChain, ApiServer, CustomEndpoints, Discovery, Endpoint, KindExtensions, LateCustomEndpoints,
    Loopback, OpenApi, Served, ServerContext,
};
use machinery::catalog::{Catalog, KindDef, ResourceDef, Serving};
use options::Options;
use registry::{DeclaredStrategy, Informers, ResourceStore, Stores, Strategy};
use request::handler::FromFn;
use request::{Handler, respond};
use webhook::Services;

use crate::backends::Backends;
use crate::error::RunError;
use crate::namespaces::Namespaces;
use crate::{Server, enabled};

/// The delegation chain and its dependencies.
pub struct Delegation {
    pub handler: Arc<dyn Handler>,
    /// Discovery of all servers of the chain.
    pub discovery: Arc<Discovery>,
    pub environment: Arc<ServerContext>,
    pub loopback: Arc<Loopback>,
    /// Custom resources, if `apiextensions.k8s.io` is enabled.
    pub custom: Option<Arc<Custom>>,
}

const AGGREGATOR: &str = "apiregistration.k8s.io";
const APIEXTENSIONS: &str = "apiextensions.k8s.io";

/// Builds the servers of enabled groups, with these stores.
///
/// # Errors
/// The options enable unknown groups, or a file that they name is unusable.
pub fn build(
    server: &Server,
    stores: Arc<Stores>,
    namespaces: Option<Namespaces>,
    running: &serving::Server,
    backends: &Arc<Backends>,
) -> Result<Delegation, RunError> {
    let (catalog, behaviour) = (server.catalog, &server.behaviour);
    let options = &running.options;
    enabled::check(catalog, options)?;
    let kinds = enabled::kinds(catalog, options);
    let environment = Arc::new(environment(server, running, stores, backends)?);
    let namespaces = namespaces.map(|namespaces| Arc::new(namespaces) as Arc<dyn Admission>);
    let plugins = namespaces.into_iter().chain([behaviour.admission(&environment)?]);
    let plugins = plugins.chain(server.admission.iter().cloned()).collect();
    let admission: Arc<dyn Admission> = Arc::new(AdmissionChain(plugins));
    let builder = environment.endpoints();
    let endpoint = |kind: &&'static KindDef| {
        let resource = kind.resource?;
        let store = environment.stores.get(&(kind.group, resource.plural)).cloned();
        let mut endpoint = builder.endpoint((*kind, resource), store, admission.clone());
        endpoint.is_costly = behaviour.is_costly(kind);
        endpoint.handlers = behaviour.handlers(kind, resource, &environment);
        Some(Arc::new(endpoint))
    };
    let endpoints: Vec<Arc<Endpoint>> = kinds.iter().filter_map(endpoint).collect();
    let loopback = Arc::new(Loopback::new(&endpoints, running.audit()));
    let of = |belongs: &dyn Fn(&str) -> bool| {
        endpoints.iter().filter(|e| belongs(e.kind.group)).cloned().collect::<Vec<_>>()
    };
    let discovery = environment.discovery.clone();
    let openapi = Arc::new(openapi(catalog, &kinds));
    let mut handler: Arc<dyn Handler> = Arc::new(FromFn(|_| respond::not_found()));
    let mut custom = None;
    if enabled::serves(&kinds, APIEXTENSIONS) {
        let open = Arc::new(ApiServer::open(catalog, discovery.clone(), openapi.clone(), handler));
        let served = Arc::new(custom_resources(&open, &environment, &admission, backends, running));
        let known: Arc<dyn CustomEndpoints> = served.clone();
        let _ = environment.custom.set(Arc::downgrade(&known)); // set only here
        custom = Some(served);
        handler = Arc::new(ApiServer::new(catalog, of(&|g| g == APIEXTENSIONS), discovery.clone(), None, open));
    }
    let own = of(&|g| g != AGGREGATOR && g != APIEXTENSIONS);
    handler = Arc::new(ApiServer::new(catalog, own, discovery.clone(), None, handler));
    // The outermost server serves the discovery of all of them.
    let registrations = of(&|g| g == AGGREGATOR);
    handler = Arc::new(ApiServer::new(catalog, registrations, discovery.clone(), Some(openapi), handler));
    if enabled::serves(&kinds, AGGREGATOR) {
        handler = Arc::new(aggregator(&environment, handler)?);
    }
    if let Some(authorities) = &options.peers.ca_file {
        handler = Arc::new(with_peers(behaviour.as_ref(), &environment, authorities, handler)?);
    }
    discovery.register_metrics(running.metrics.registry());
    Ok(Delegation { handler, discovery, environment, loopback, custom })
}

/// Proxies requests for resources that only peers serve, and starts the discovery of peers.
fn with_peers(
    behaviour: &dyn KindExtensions,
    environment: &ServerContext,
    authorities: &Path,
    next: Arc<dyn Handler>,
) -> Result<WithPeers, RunError> {
    let options = &environment.options;
    let authorities = std::fs::read(authorities).map_err(options::Error::file(authorities))?;
    let (identity, route) = (options.aggregation.identity()?, options.egress.control_plane.clone());
    let (addresses, registry) = (behaviour.peer_addresses(&environment.backend), environment.metrics.registry());
    let peers = PeerProxy::new(authorities, identity, route, addresses, environment.discovery.clone(), registry);
    let peers = Arc::new(peers.map_err(|why| RunError::Peers(why.into()))?);
    tokio::spawn(peers.clone().follow());
    Ok(WithPeers::new(peers, next))
}

fn custom_resources(
    open: &Arc<ApiServer>,
    environment: &ServerContext,
    admission: &Arc<dyn Admission>,
    backends: &Arc<Backends>,
    running: &serving::Server,
) -> Custom {
    let places = backends.clone();
    Custom::new(
        open.clone(),
        (environment.endpoints(), environment.stores.clone()),
        admission.clone(),
        Box::new(move |group: &str, plural: &str| places.of(group, plural).clone()),
        environment.services.clone(),
        running.metrics.registry(),
    )
}

/// Proxies requests for aggregated servers, and starts their discovery.
fn aggregator(environment: &ServerContext, local: Arc<dyn Handler>) -> Result<Aggregator, RunError> {
    let options = &environment.options.aggregation;
    let servers = Arc::new(Aggregated::new(environment.services.clone(), options.identity()?));
    let discovery = &environment.discovery;
    tokio::spawn(aggregator::follow(discovery.clone(), servers.clone()));
    Ok(Aggregator::new(discovery.clone(), servers, options.reject_redirects, local))
}

fn environment(
    Server { catalog, behaviour, .. }: &Server,
    server: &serving::Server,
    stores: Arc<Stores>,
    backends: &Backends,
) -> Result<ServerContext, RunError> {
    let informers = Arc::new(Informers::new(stores.clone()));
    let access = behaviour.access(server, &informers)?;
    let (cluster, control_plane) = (server.options.egress.cluster.clone(), server.options.egress.control_plane.clone());
    let addresses = behaviour.service_addresses(server, &informers);
    let services = Arc::new(Services::new(addresses).by(cluster, control_plane));
    Ok(ServerContext {
        catalog,
        options: server.options.clone(),
        stores,
        informers,
        discovery: Arc::new(Discovery::default()),
        services,
        access,
        client_ca: server.certificates.tls.client_ca.clone(),
        server_ca: server.certificates.server_ca.clone(),
        proxy_ca: server.certificates.tls.proxy_ca.clone(),
        token_keys: server.certificates.service_accounts.clone(),
        health: server.health.clone(),
        metrics: server.metrics.clone(),
        flow_control: server.flow_control.clone(),
        backend: backends.main().clone(),
        shutdown: server.shutdown.clone(),
        custom: LateCustomEndpoints::default(),
    })
}

/// Creates the stores of all stored resources that can be served, enabled or not: bootstrap and
/// admission read them too. Must run before the backends start, so that caches decode objects in
/// the form of the stores.
pub fn stores(server: &Server, options: &Options, backends: &Backends) -> Stores {
    let (catalog, behaviour) = (server.catalog, &server.behaviour);
    let mut out = Stores::default();
    for kind in catalog.kinds.iter().filter(|kind| kind.serving != Serving::Unserved) {
        let Some(resource) = kind.resource.filter(|r| !r.key_prefix.is_empty()) else { continue };
        let Some(storage_kind) = catalog.kind(resource.storage.0, resource.storage.1, kind.kind) else { continue };
        out.entry((kind.group, resource.plural)).or_insert_with(|| {
            let strategy = strategy(catalog, kind, storage_kind, resource);
            let backend = backends.of(resource.storage.0, resource.plural);
            let store = ResourceStore::new(catalog, storage_kind, resource, strategy, backend);
            Arc::new(store.with_time_to_live(behaviour.time_to_live(kind, options)))
        });
    }
    out
}

fn strategy(
    catalog: &'static Catalog,
    kind: &'static KindDef,
    storage_kind: &'static KindDef,
    resource: &'static ResourceDef,
) -> Arc<dyn Strategy> {
    let declared = DeclaredStrategy::new(catalog, kind, resource);
    // Validation of definitions needs a schema compiler.
    match DefinitionStrategy::is_for(kind) {
        true => Arc::new(DefinitionStrategy { declared, internal: storage_kind, native: native_groups(catalog) }),
        false => Arc::new(declared),
    }
}

/// Returns the served groups of authors.
fn native_groups(catalog: &'static Catalog) -> Vec<&'static str> {
    let served = catalog.kinds.iter().filter(|kind| kind.serving != Serving::Unserved);
    let mut groups: Vec<&str> = served
        .filter(|kind| kind.resource.is_some_and(|resource| !resource.tagged_validation))
        .map(|kind| kind.group)
        .collect();
    groups.dedup();
    groups
}

fn openapi(catalog: &'static Catalog, kinds: &[&'static KindDef]) -> OpenApi {
    let mut served = Served::new();
    for kind in kinds {
        let plurals = served.entry((kind.group, kind.version)).or_default();
        plurals.extend(kind.resource.map(|resource| resource.plural));
    }
    OpenApi::new(catalog.openapi.bundles, endpoints::openapi_options(&options::version::release()), served)
}
