//! APIServices: registration of this server's group versions, availability of aggregated servers,
//! and updates of the aggregator.

mod autoregister;
mod availability;
mod context;
mod desired;
mod metrics;
mod registration;
mod service_resolver;

use std::sync::Arc;

use aggregator::AggregatedServers;
use apimachinery::apiregistration::v1::APIService;
use endpoints::{Discovery, Loopback};
use machinery::status::Status;
use registry::Informer;

use autoregister::Autoregister;
use availability::Availability;
pub use context::AggregationContext;
use desired::Desired;
pub use desired::definitions;
use registration::{API_SERVICES, DEFAULT_PORT, condition, registration};
pub use service_resolver::{ServiceResolver, join};

/// Registers the group versions of this server and starts the APIService controllers.
pub async fn start(context: AggregationContext<'_>, loopback: &Arc<Loopback>) -> Result<(), Status> {
    let AggregationContext { informers, discovery, health, metrics, .. } = context;
    if !loopback.serves(API_SERVICES) {
        return Ok(());
    }
    let Some(services) = informers.of::<APIService>(API_SERVICES.0, API_SERVICES.2) else { return Ok(()) };
    let (complete, hook) = (health.pending("autoregister-completion"), "poststarthook/kube-apiserver-autoregistration");
    let hook = health.pending(hook);
    services.synced().await;
    let desired = Desired::start(discovery, informers.stores()).await;
    let queue = metrics.work_queue("autoregister");
    let mut registered = Autoregister::new(loopback.clone(), services.clone(), desired, queue);
    registered.sync().await?;
    hook.done();
    complete.done();
    tokio::spawn(registered.follow());
    tokio::spawn(publish_registrations(discovery.clone(), services.clone()));
    let identity = context.options.identity().map_err(|why| Status::internal(why.to_string()))?;
    let servers = Arc::new(AggregatedServers::new(context.services.clone(), identity));
    tokio::spawn(Availability::new(&context, loopback, services, servers).follow());
    Ok(())
}

/// Publishes every change of APIServices to the aggregator.
async fn publish_registrations(discovery: Arc<Discovery>, services: Informer<APIService>) {
    let mut changes = services.changes();
    let mut published = Vec::new();
    loop {
        let all: Vec<_> = services.all().iter().map(|service| registration(service)).collect();
        if all != published {
            discovery.registrations().replace(all.clone());
            published = all;
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
}
