//! APIServices: registration of this server's group versions, availability of aggregated servers,
//! and updates of the aggregator.

mod autoregister;
mod availability;
mod desired;
mod metrics;
mod registration;
mod service_resolver;

use std::sync::Arc;

use aggregator::AggregatedServers;
use apimachinery::apiregistration::v1::APIService;
use endpoints::{Loopback, ServerContext};
use machinery::status::Status;
use registry::Informer;
use webhook::ClientIdentity;

use autoregister::Autoregister;
use availability::Availability;
use desired::Desired;
pub use desired::definitions;
use registration::{API_SERVICES, DEFAULT_PORT, condition, registration};
pub use service_resolver::{ServiceResolver, join};

/// Registers the group versions of this server and starts the APIService controllers.
pub async fn start(environment: &Arc<ServerContext>, loopback: &Arc<Loopback>) -> Result<(), Status> {
    if !loopback.serves(API_SERVICES) {
        return Ok(());
    }
    let Some(services) = environment.informers.of::<APIService>(API_SERVICES.0, API_SERVICES.2) else { return Ok(()) };
    let (complete, hook) =
        (environment.health.pending("autoregister-completion"), "poststarthook/kube-apiserver-autoregistration");
    let hook = environment.health.pending(hook);
    services.synced().await;
    let desired = Desired::start(environment).await;
    let queue = environment.metrics.work_queue("autoregister");
    let mut registered = Autoregister::new(loopback.clone(), services.clone(), desired, queue);
    registered.sync().await?;
    hook.done();
    complete.done();
    tokio::spawn(registered.follow());
    tokio::spawn(publish_registrations(environment.clone(), services.clone()));
    let identity = identity(environment)?;
    let backends = Arc::new(AggregatedServers::new(environment.services.clone(), identity));
    tokio::spawn(Availability::new(environment, loopback, services, backends).follow());
    Ok(())
}

/// Returns the front-proxy client certificate and key of this server.
fn identity(environment: &ServerContext) -> Result<Option<ClientIdentity>, Status> {
    environment.options.aggregation.identity().map_err(|why| Status::internal(why.to_string()))
}

/// Publishes every change of APIServices to the aggregator.
async fn publish_registrations(environment: Arc<ServerContext>, services: Informer<APIService>) {
    let mut changes = services.changes();
    let mut published = Vec::new();
    loop {
        let all: Vec<_> = services.all().iter().map(|service| registration(service)).collect();
        if all != published {
            environment.discovery.registrations().replace(all.clone());
            published = all;
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
}
