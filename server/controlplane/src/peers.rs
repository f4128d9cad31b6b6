//! What the servers of a cluster tell each other of themselves, so that one can pass on what it does not serve (upstream:
//! `PeerEndpointLeaseController`, `peerproxy.GVExclusionManager`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use apimachinery::apiextensions::v1::CustomResourceDefinition;
use apimachinery::apiregistration::v1::APIService;
use async_trait::async_trait;
use endpoints::{GroupVersion, Members, PeerAddresses, ServerContext};
use generated::coordination::v1::Lease;
use generated::core::v1::{EndpointAddress, EndpointPort, EndpointSubset, Endpoints, protocol};
use machinery::status::Status;
use registry::{Backend, Informer};
use serving::health::Pending;
use serving::identity;
use serving::options::Options;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::aggregation::{self, join};
use crate::identity::{LEASES, NAMESPACE, is_of_server};
use crate::leases::{self, INTERVAL, Leases};
use crate::services::kubernetes;

/// The keys by which servers say where they are.
const PLACES: &str = "peerserverleases";
/// Says in such a key whose it is.
const IDENTITY: &str = "apiserverIdentity";
/// The work that a server begins with that passes requests on.
const HOOKS: [&str; 3] = [
    "poststarthook/mixed-version-proxy-handler",
    "poststarthook/local-discovery-cache-sync",
    "poststarthook/peer-discovery-workers",
];
/// How often it is looked whether this server is ready to be found.
const READY: Duration = Duration::from_millis(100);
/// The least time between two looks at everything: leases of nodes are renewed all the time.
const SETTLE: Duration = Duration::from_millis(100);
/// For how long group versions that are gone are not looked for at other servers, which may not know it yet (`defaultExclusionGracePeriod`).
const GRACE: Duration = Duration::from_secs(5 * 60);

/// Lets others find this server, and begins to follow who they are if requests are passed on to them.
pub async fn start(environment: &Arc<ServerContext>) -> Result<(), Status> {
    let options = &environment.options.peers;
    if !options.enabled {
        return Ok(());
    }
    if let Some((host, port)) = place(&environment.options) {
        publish(environment, &host, port);
    }
    if options.ca_file.is_some() {
        let services = environment.informers.of::<APIService>("apiregistration.k8s.io", "apiservices");
        let servers = environment.informers.of::<Lease>(LEASES.0, LEASES.2);
        let (Some(services), Some(servers)) = (services, servers) else { return Ok(()) };
        let hooks = HOOKS.map(|hook| environment.health.pending(hook));
        services.synced().await;
        servers.synced().await;
        let definitions = aggregation::definitions(environment).await;
        let own = identity::of_host(&environment.options.serving.hostname);
        let watched = Watched { own, servers, services, definitions, excluded: Excluded::default() };
        tokio::spawn(watched.follow(environment.clone()));
        hooks.into_iter().for_each(Pending::done);
    }
    Ok(())
}

/// Host and port at which others reach this server, if it has an address for others.
pub fn place(options: &Options) -> Option<(String, u16)> {
    let port = options.serving.secure_port;
    options.peers.advertised.clone().or_else(|| Some((kubernetes::reached_at(options)?.to_string(), port)))
}

/// Says where this server is from when it is ready until it stops.
fn publish(environment: &Arc<ServerContext>, host: &str, port: u16) {
    let server = identity::of_host(&environment.options.serving.hostname);
    let endpoints = endpoints(&server, host, port);
    let places = Arc::new(Leases::new(&environment.backend, PLACES));
    let keeping = {
        let (health, places, server) = (environment.health.clone(), places.clone(), server.clone());
        tokio::spawn(async move {
            while !health.is_ready() {
                tokio::time::sleep(READY).await;
            }
            loop {
                if let Err(status) = places.renew(&server, &endpoints).await {
                    tracing::warn!(why = status.message, "telling other servers where this one is");
                }
                tokio::time::sleep(INTERVAL).await;
            }
        })
    };
    leases::until_shutdown(environment, "peer endpoint", keeping, async move { places.remove(&server).await });
}

fn endpoints(server: &str, host: &str, port: u16) -> Endpoints {
    let address = EndpointAddress { ip: host.to_owned(), ..EndpointAddress::default() };
    let port = EndpointPort {
        name: "https".into(),
        port: port.into(),
        protocol: protocol::TCP.into(),
        ..EndpointPort::default()
    };
    let subset = EndpointSubset { addresses: vec![address], ports: vec![port], ..EndpointSubset::default() };
    let mut endpoints = Endpoints { subsets: vec![subset], ..Endpoints::default() };
    endpoints.metadata.labels.insert(IDENTITY.into(), server.into());
    endpoints
}

/// Where servers say that they are.
pub struct Addresses(Leases);

impl Addresses {
    pub fn new(backend: &Backend) -> Self {
        Addresses(Leases::new(backend, PLACES))
    }
}

#[async_trait]
impl PeerAddresses for Addresses {
    async fn find(&self, server: &str) -> Result<String, String> {
        let found = self.0.place(server).await.map_err(|status| status.message)?;
        let address = found.as_ref().and_then(address);
        address.ok_or_else(|| "it does not say where it is, or has ended".into())
    }
}

fn address(place: &Endpoints) -> Option<String> {
    let subset = place.subsets.first()?;
    Some(join(&subset.addresses.first()?.ip, subset.ports.first()?.port))
}

/// What says which servers there are, and what they are not asked for.
struct Watched {
    own: String,
    servers: Informer<Lease>,
    services: Informer<APIService>,
    definitions: Option<Informer<CustomResourceDefinition>>,
    excluded: Excluded,
}

impl Watched {
    /// Tells of every change. Does not end.
    async fn follow(mut self, environment: Arc<ServerContext>) {
        let (mut servers, mut services) = (self.servers.changes(), self.services.changes());
        let mut definitions = self.definitions.as_ref().map(Informer::changes);
        loop {
            servers.mark_unchanged();
            services.mark_unchanged();
            definitions.iter_mut().for_each(watch::Receiver::mark_unchanged);
            environment.discovery.peers().tell(self.members());
            tokio::time::sleep(SETTLE).await;
            let defined = async {
                match &mut definitions {
                    Some(definitions) => drop(definitions.changed().await),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = servers.changed() => {}
                _ = services.changed() => {}
                () = defined => {}
                () = tokio::time::sleep(GRACE) => {}
            }
        }
    }

    fn members(&mut self) -> Members {
        let other = |lease: &Arc<Lease>| is_of_server(lease) && lease.metadata.name != self.own;
        let named = |lease: Arc<Lease>| Some((lease.metadata.name.clone(), lease.spec.holder_identity.clone()?));
        let others = self.servers.in_namespace(NAMESPACE).into_iter().filter(other).filter_map(named).collect();
        self.excluded.note(self.defined(), Instant::now());
        Members { own: self.own.clone(), others, excluded: self.excluded.all() }
    }

    /// Group versions that every server of the cluster learns of from the store.
    fn defined(&self) -> BTreeSet<GroupVersion> {
        let custom = self.definitions.iter().flat_map(Informer::all).flat_map(|definition| {
            let group = &definition.spec.group;
            definition.spec.versions.iter().map(|version| (group.clone(), version.name.clone())).collect::<Vec<_>>()
        });
        let services = self.services.all().into_iter().filter(|service| service.spec.service.is_some());
        custom.chain(services.map(|service| (service.spec.group.clone(), service.spec.version.clone()))).collect()
    }
}

/// Group versions of custom resources and of aggregated servers, which no other server is asked for.
#[derive(Default)]
struct Excluded {
    active: BTreeSet<GroupVersion>,
    /// Those that are no more, and since when.
    gone: BTreeMap<GroupVersion, Instant>,
}

impl Excluded {
    /// These are there at this moment.
    fn note(&mut self, active: BTreeSet<GroupVersion>, now: Instant) {
        self.gone.retain(|_, since| now.duration_since(*since) <= GRACE);
        self.gone.extend(self.active.difference(&active).map(|version| (version.clone(), now)));
        self.active = active;
    }

    fn all(&self) -> BTreeSet<GroupVersion> {
        self.active.iter().chain(self.gone.keys()).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_say_where_they_are() {
        for (host, expect) in [("10.0.0.1", "10.0.0.1:6443"), ("fd00::1", "[fd00::1]:6443")] {
            assert_eq!(address(&endpoints("a", host, 6443)).as_deref(), Some(expect));
        }
        assert_eq!(address(&Endpoints::default()), None);
    }

    #[test]
    fn what_is_gone_is_not_looked_for_at_once() {
        let mut excluded = Excluded::default();
        let begin = Instant::now();
        let (a, b) = (("a".to_owned(), "v1".to_owned()), ("b".to_owned(), "v1".to_owned()));
        for (seconds, active, expect) in [
            (0, vec![&a], vec![&a]),
            (1, vec![&b], vec![&a, &b]),
            (300, vec![], vec![&a, &b]),
            (302, vec![], vec![&b]),
            (601, vec![&a], vec![&a]),
        ] {
            excluded.note(active.into_iter().cloned().collect(), begin + Duration::from_secs(seconds));
            assert_eq!(excluded.all().iter().collect::<Vec<_>>(), expect, "after {seconds} s");
        }
    }
}
