//! Peer discovery: publishes this server's endpoint and watches the other servers, for the mixed
//! version proxy (upstream: `PeerEndpointLeaseController`, `peerproxy.GVExclusionManager`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use apimachinery::apiextensions::v1::CustomResourceDefinition;
use apimachinery::apiregistration::v1::APIService;
use async_trait::async_trait;
use endpoints::{Discovery, GroupVersion, Members, PeerAddresses};
use generated::coordination::v1::Lease;
use generated::core::v1::{EndpointAddress, EndpointPort, EndpointSubset, Endpoints, protocol};
use options::{Options, identity};
use registry::{Backend, Informer, Informers};
use serving::health::{Health, Pending};
use serving::shutdown::Shutdown;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::aggregation::{self, join};
use crate::identity::{LEASES, NAMESPACE, advertised_address, is_of_server};
use crate::leases::{self, INTERVAL, Leases};

/// The name of the store keys with server endpoints.
const ENDPOINT_KEYS: &str = "peerserverleases";
/// The label of the server's identity.
const IDENTITY: &str = "apiserverIdentity";
/// The post-start hooks of a server that proxies requests to peers.
const HOOKS: [&str; 3] = [
    "poststarthook/mixed-version-proxy-handler",
    "poststarthook/local-discovery-cache-sync",
    "poststarthook/peer-discovery-workers",
];
/// The polling interval for the readiness of this server.
const READINESS_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The minimum time between two updates, because node leases are renewed continuously.
const MIN_UPDATE_INTERVAL: Duration = Duration::from_millis(100);
/// How long removed group versions stay excluded from proxying, because peers may not have observed
/// the removal (`defaultExclusionGracePeriod`).
const GRACE: Duration = Duration::from_secs(5 * 60);

/// Watches the other servers, if requests are proxied to peers.
pub async fn watch_others(options: &Options, informers: &Informers, health: &Health, discovery: &Arc<Discovery>) {
    if options.peers.enabled && options.peers.ca_file.is_some() {
        let services = informers.of::<APIService>("apiregistration.k8s.io", "apiservices");
        let servers = informers.of::<Lease>(LEASES.0, LEASES.2);
        let (Some(services), Some(servers)) = (services, servers) else { return };
        let hooks = HOOKS.map(|hook| health.pending(hook));
        services.synced().await;
        servers.synced().await;
        let definitions = aggregation::definitions(informers.stores()).await;
        let own = identity::of_host(&options.serving.hostname);
        let watcher = PeerWatcher { own, servers, services, definitions, excluded: Excluded::default() };
        tokio::spawn(watcher.follow(discovery.clone()));
        hooks.into_iter().for_each(Pending::done);
    }
}

/// Publishes this server's endpoint from readiness until shutdown.
pub fn publish(options: &Options, backend: &Backend, health: &Health, shutdown: &Shutdown) {
    let address = advertised_address(options).filter(|_| options.peers.enabled);
    let Some((host, port)) = address else { return };
    let server = identity::of_host(&options.serving.hostname);
    let endpoints = endpoints(&server, &host, port);
    let leases = Arc::new(Leases::new(backend, ENDPOINT_KEYS));
    let renewal = {
        let (health, leases, server) = (health.clone(), leases.clone(), server.clone());
        tokio::spawn(async move {
            while !health.is_ready() {
                tokio::time::sleep(READINESS_POLL_INTERVAL).await;
            }
            loop {
                if let Err(status) = leases.renew(&server, &endpoints).await {
                    tracing::warn!(why = status.message, "cannot publish the peer endpoint of this server; retrying");
                }
                tokio::time::sleep(INTERVAL).await;
            }
        })
    };
    leases::until_shutdown(shutdown, "peer endpoint", renewal, async move { leases.remove(&server).await });
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

/// The published endpoints of servers.
pub struct PeerEndpointLeases(Leases);

impl PeerEndpointLeases {
    pub fn new(backend: &Backend) -> Self {
        PeerEndpointLeases(Leases::new(backend, ENDPOINT_KEYS))
    }
}

#[async_trait]
impl PeerAddresses for PeerEndpointLeases {
    async fn find(&self, server: &str) -> Result<String, endpoints::Error> {
        let found = self.0.endpoints_of(server).await?;
        let address = found.as_ref().and_then(address);
        address.ok_or_else(|| endpoints::Error::NoPeerAddress { server: server.to_owned() })
    }
}

fn address(endpoints: &Endpoints) -> Option<String> {
    let subset = endpoints.subsets.first()?;
    Some(join(&subset.addresses.first()?.ip, subset.ports.first()?.port))
}

/// Watches servers and the group versions that are not proxied.
struct PeerWatcher {
    own: String,
    servers: Informer<Lease>,
    services: Informer<APIService>,
    definitions: Option<Informer<CustomResourceDefinition>>,
    excluded: Excluded,
}

impl PeerWatcher {
    /// Publishes every change to the peer proxy. Does not return.
    async fn follow(mut self, discovery: Arc<Discovery>) {
        let (mut servers, mut services) = (self.servers.changes(), self.services.changes());
        let mut definitions = self.definitions.as_ref().map(Informer::changes);
        loop {
            servers.mark_unchanged();
            services.mark_unchanged();
            definitions.iter_mut().for_each(watch::Receiver::mark_unchanged);
            discovery.peers().set_members(self.members());
            tokio::time::sleep(MIN_UPDATE_INTERVAL).await;
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
        self.excluded.update(self.defined(), Instant::now());
        Members { own: self.own.clone(), others, excluded: self.excluded.all() }
    }

    /// Returns the group versions that every server of the cluster reads from the store.
    fn defined(&self) -> BTreeSet<GroupVersion> {
        let custom = self.definitions.iter().flat_map(Informer::all).flat_map(|definition| {
            let group = &definition.spec.group;
            definition.spec.versions.iter().map(|version| (group.clone(), version.name.clone())).collect::<Vec<_>>()
        });
        let services = self.services.all().into_iter().filter(|service| service.spec.service.is_some());
        custom.chain(services.map(|service| (service.spec.group.clone(), service.spec.version.clone()))).collect()
    }
}

/// Group versions of custom resources and aggregated servers, which are not proxied to peers.
#[derive(Default)]
struct Excluded {
    active: BTreeSet<GroupVersion>,
    /// Removed group versions and the time of their removal.
    removed: BTreeMap<GroupVersion, Instant>,
}

impl Excluded {
    /// Updates the active group versions.
    fn update(&mut self, active: BTreeSet<GroupVersion>, now: Instant) {
        self.removed.retain(|_, since| now.duration_since(*since) <= GRACE);
        self.removed.extend(self.active.difference(&active).map(|version| (version.clone(), now)));
        self.active = active;
    }

    fn all(&self) -> BTreeSet<GroupVersion> {
        self.active.iter().chain(self.removed.keys()).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_peer_addresses() {
        for (host, expect) in [("10.0.0.1", "10.0.0.1:6443"), ("fd00::1", "[fd00::1]:6443")] {
            assert_eq!(address(&endpoints("a", host, 6443)).as_deref(), Some(expect));
        }
        assert_eq!(address(&Endpoints::default()), None);
    }

    #[test]
    fn excludes_removed_group_versions_for_grace_period() {
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
            excluded.update(active.into_iter().cloned().collect(), begin + Duration::from_secs(seconds));
            assert_eq!(excluded.all().iter().collect::<Vec<_>>(), expect, "after {seconds} s");
        }
    }
}
