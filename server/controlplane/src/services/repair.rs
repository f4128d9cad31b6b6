//! Periodic repair of the addresses and node ports of services (`ipallocator/controller.RepairIPAddress`,
//! `portallocator/controller.Repair`): what no service has is released, and what a service has is registered again.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use endpoints::Environment;
use generated::core::v1::Service;
use generated::networking::v1::IPAddress;
use machinery::format::ip::parse_ip_sloppy;
use machinery::scalar::Time;
use machinery::status::Status;
use prometheus::{IntCounter, IntCounterVec, Opts, Registry};
use serving::shutdown::Phase;

use super::addresses::{self, Addresses, Owner};
use super::all;
use super::ports::{self, NodePorts};

/// How often everything is checked (upstream: `ServiceIPRepairInterval`, `ServiceNodePortRepairInterval`).
const INTERVAL: Duration = Duration::from_secs(180);
/// How old an address without a service has to be before it is released: its service may be about to be created.
const GRACE_SECONDS: i64 = 60;
/// How often a node port has to be seen without a service before it is released (`numRepairsBeforeLeakCleanup`).
const SIGHTINGS: u32 = 3;

/// Which addresses without a service are released.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Leaked {
    /// All of them: no server creates services at this moment.
    Any,
    /// Those that are older than the grace period.
    Aged,
}

/// Compares allocations with the stored services.
pub struct Repair {
    environment: Arc<Environment>,
    addresses: Arc<Addresses>,
    ports: Arc<NodePorts>,
    /// How often each node port was seen without a service, in a row.
    sightings: HashMap<i32, u32>,
    metrics: Metrics,
}

impl Repair {
    pub fn new(environment: &Arc<Environment>, addresses: &Arc<Addresses>, ports: &Arc<NodePorts>) -> Self {
        let metrics = Metrics::register(environment.metrics.registry());
        let (environment, addresses, ports) = (environment.clone(), addresses.clone(), ports.clone());
        Repair { environment, addresses, ports, sightings: HashMap::new(), metrics }
    }

    /// Repairs until the server stops.
    pub async fn run(mut self) {
        let shutdown = self.environment.shutdown.clone();
        loop {
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => {}
                () = shutdown.reached(Phase::Initiated) => return,
            }
            if let Err(status) = self.once(Leaked::Aged).await {
                self.metrics.failures.inc();
                tracing::error!(
                    why = status.message,
                    "repair of service addresses and node ports failed; it is retried"
                );
            }
        }
    }

    /// Checks everything once.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn once(&mut self, leaked: Leaked) -> Result<(), Status> {
        // Allocations are read before services: a service that is stored in between is found then.
        let known = self.addresses.all().await?;
        let used = self.ports.in_use();
        let services = all::<Service>(&self.environment, ("", "services")).await?;
        self.ports(&used, &services);
        self.register_addresses(&known, &services).await?;
        self.release_addresses(&known, &services, leaked).await;
        Ok(())
    }

    /// Registers the node ports of services, and releases those that were seen without a service several times.
    fn ports(&mut self, used: &HashSet<i32>, services: &[Service]) {
        let mut stored: HashSet<i32> = HashSet::new();
        for service in services {
            for port in ports::of(&service.spec).collect::<HashSet<_>>() {
                let (namespace, name) = (&service.metadata.namespace, &service.metadata.name);
                if !stored.insert(port) {
                    self.metrics.count("duplicate");
                    tracing::error!(port, namespace, name, "node port was assigned to multiple services");
                } else if self.ports.register(port) && !used.contains(&port) {
                    self.metrics.count("repair");
                    tracing::warn!(port, namespace, name, "node port of a service was not allocated; registered");
                }
            }
        }
        let leaks: Vec<i32> = used.difference(&stored).copied().collect();
        self.sightings.retain(|port, _| leaks.contains(port));
        for port in leaks {
            let seen = self.sightings.entry(port).or_default();
            *seen += 1;
            if *seen >= SIGHTINGS {
                self.sightings.remove(&port);
                self.ports.give_back([port]);
                self.metrics.count("leak");
                tracing::warn!(port, "node port belongs to no service; released");
            }
        }
    }

    /// Makes sure that each address of a service has an IPAddress that refers to the service.
    async fn register_addresses(&self, known: &[IPAddress], services: &[Service]) -> Result<(), Status> {
        let by_name: HashMap<&str, &IPAddress> =
            known.iter().map(|known| (known.metadata.name.as_str(), known)).collect();
        let owners = owners(services);
        for service in services {
            let owner = Owner { namespace: &service.metadata.namespace, name: &service.metadata.name };
            for address in addresses::of(&service.spec).filter_map(parse_ip_sloppy) {
                match by_name.get(address.to_string().as_str()) {
                    Some(known) if addresses::belongs_to(known, &owner) => {}
                    Some(known) if refers_to_one_of(known, &owners[&address]) => {
                        tracing::error!(%address, owner.namespace, owner.name, "cluster IP was assigned to multiple services");
                    }
                    Some(known) => {
                        tracing::warn!(%address, owner.namespace, owner.name, "cluster IP has a wrong reference; repaired");
                        self.addresses.release(known).await?;
                        self.addresses.register(address, &owner).await?;
                    }
                    None => {
                        tracing::warn!(%address, owner.namespace, owner.name, "cluster IP was not allocated; registered");
                        self.addresses.register(address, &owner).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Releases the addresses that were allocated for services which do not have them.
    async fn release_addresses(&self, known: &[IPAddress], services: &[Service], leaked: Leaked) {
        let owners = owners(services);
        let now = Time::from(SystemTime::now()).unix();
        for known in known.iter().filter(|known| addresses::is_managed(known)) {
            let age = now.saturating_sub(known.metadata.creation_timestamp.unix());
            let is_used = known.metadata.name.parse().is_ok_and(|address: IpAddr| owners.contains_key(&address));
            let may_be_pending =
                self.addresses.is_pending(&known.metadata.name) || leaked == Leaked::Aged && age <= GRACE_SECONDS;
            if is_used || may_be_pending {
                continue;
            }
            match self.addresses.release(known).await {
                Ok(()) => tracing::warn!(address = known.metadata.name, "cluster IP belongs to no service; released"),
                Err(status) => {
                    tracing::error!(
                        address = known.metadata.name,
                        why = status.message,
                        "releasing a leaked cluster IP"
                    );
                }
            }
        }
    }
}

/// The services that have each address.
fn owners(services: &[Service]) -> HashMap<IpAddr, Vec<&Service>> {
    let mut owners: HashMap<IpAddr, Vec<&Service>> = HashMap::new();
    for service in services {
        for address in addresses::of(&service.spec).filter_map(parse_ip_sloppy) {
            owners.entry(address).or_default().push(service);
        }
    }
    owners
}

fn refers_to_one_of(known: &IPAddress, services: &[&Service]) -> bool {
    let owner = |service: &Service| {
        let metadata = &service.metadata;
        addresses::belongs_to(known, &Owner { namespace: &metadata.namespace, name: &metadata.name })
    };
    services.iter().any(|service| owner(service))
}

/// What the repair found.
struct Metrics {
    failures: IntCounter,
    ports: IntCounterVec,
}

impl Metrics {
    /// Names and labels are literals of this function.
    fn register(registry: &Registry) -> Self {
        let failures = IntCounter::new(
            "apiserver_nodeport_repair_reconcile_errors_total",
            "Number of reconciliation failures on the nodeport repair reconcile loop",
        );
        let ports = Opts::new(
            "apiserver_nodeport_repair_port_errors_total",
            "Number of errors detected on ports by the nodeport repair loop broken down by type of error: \
             leak, repair, full, outOfRange, duplicate, unknown",
        );
        let failures = failures.expect("a well-formed metric");
        let ports = IntCounterVec::new(ports, &["type"]).expect("a well-formed metric");
        let _ = registry.register(Box::new(failures.clone())); // only a name registered twice is refused
        let _ = registry.register(Box::new(ports.clone()));
        Metrics { failures, ports }
    }

    fn count(&self, kind: &str) {
        self.ports.with_label_values(&[kind]).inc();
    }
}
