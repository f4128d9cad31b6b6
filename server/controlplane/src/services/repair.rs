//! Periodic repair of cluster IPs and node ports (`ipallocator/controller.RepairIPAddress`,
//! `portallocator/controller.Repair`): unused allocations are released, and missing ones are
//! registered.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use apimachinery::meta::v1::status_reason;
use generated::core::v1::Service;
use generated::networking::v1::IPAddress;
use machinery::format::ip::parse_ip_sloppy;
use machinery::status::Status;
use prometheus::{IntCounter, IntCounterVec, Opts, Registry};
use registry::{Clock, Stores};
use serving::shutdown::{Phase, Shutdown};

use super::all;
use super::ip_allocator::{self, IpAllocator, Owner};
use super::ports::{self, NodePorts};

/// The repair interval (upstream: `ServiceIPRepairInterval`, `ServiceNodePortRepairInterval`).
const INTERVAL: Duration = Duration::from_secs(180);
/// Minimum age in seconds of an unused address before its release, because its service may be
/// stored shortly.
const GRACE_SECONDS: i64 = 60;
/// Maximum number of attempts when other servers change the allocation (upstream: 4, with pauses).
const ATTEMPTS: u32 = 20;
/// Number of repairs that must find a node port unused before its release
/// (`numRepairsBeforeLeakCleanup`).
const REPAIRS_BEFORE_LEAK_CLEANUP: u32 = 3;

/// The unused addresses that the repair releases.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Leaked {
    /// All: no server creates services at this time.
    Any,
    /// Those older than the grace period.
    Aged,
}

/// Compares allocations with the stored services.
pub struct Repair {
    stores: Arc<Stores>,
    clock: Arc<dyn Clock>,
    addresses: Arc<IpAllocator>,
    ports: Arc<NodePorts>,
    leaks: Leaks,
    metrics: Metrics,
}

impl Repair {
    pub fn new(
        (stores, clock): (&Arc<Stores>, &Arc<dyn Clock>),
        addresses: &Arc<IpAllocator>,
        ports: &Arc<NodePorts>,
        registry: &Registry,
    ) -> Self {
        let metrics = Metrics::register(registry);
        let (stores, clock, addresses, ports) = (stores.clone(), clock.clone(), addresses.clone(), ports.clone());
        Repair { stores, clock, addresses, ports, leaks: Leaks::default(), metrics }
    }

    /// Repairs periodically until shutdown.
    pub async fn run(mut self, shutdown: Shutdown) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => {}
                () = shutdown.reached(Phase::Initiated) => return,
            }
            if let Err(status) = self.once(Leaked::Aged).await {
                self.metrics.failures.inc();
                tracing::error!(why = status.message, "cannot repair cluster IPs and node ports; retrying");
            }
        }
    }

    /// Runs one repair.
    ///
    /// # Errors
    /// When the store fails; 409 when other servers keep changing the node port allocation.
    pub async fn once(&mut self, leaked: Leaked) -> Result<(), Status> {
        // Allocations are read before services, so that services stored in between are found.
        let known = self.addresses.all().await?;
        let services = self.ports().await?;
        self.register_addresses(&known, &services).await?;
        self.release_addresses(&known, &services, leaked).await;
        Ok(())
    }

    /// Allocates the node ports of services, and releases leaked ones. Returns the services.
    async fn ports(&mut self) -> Result<Vec<Service>, Status> {
        for _ in 0..ATTEMPTS {
            let seen = self.ports.seen().await?;
            let services = all::<Service>(&self.stores, ("", "services")).await?;
            let found = Findings::of(&services, &self.ports, &seen.ports);
            let mut leaks = self.leaks.clone();
            let leaked = leaks.count_unused(seen.ports.difference(&found.used).copied().collect());
            let used: Vec<i32> = found.used.iter().copied().collect();
            if self.ports.correct(&seen, &used, &leaked).await? {
                self.leaks = leaks;
                self.report(&found, &leaked);
                return Ok(services);
            }
        }
        let why = "the allocation of node ports changed while it was compared with services";
        Err(Status::new(409, status_reason::CONFLICT, why))
    }

    fn report(&self, found: &Findings<'_>, leaked: &[i32]) {
        for (fault, port, service) in &found.faults {
            self.metrics.count(fault.label());
            let (namespace, name) = (&service.metadata.namespace, &service.metadata.name);
            tracing::warn!(port, namespace, name, "{}", fault.message());
        }
        for port in leaked {
            self.metrics.count("leak");
            tracing::warn!(port, "node port belongs to no service; released");
        }
    }

    /// Ensures that each address of a service has an IPAddress that belongs to the service.
    async fn register_addresses(&self, known: &[IPAddress], services: &[Service]) -> Result<(), Status> {
        let by_name: HashMap<&str, &IPAddress> =
            known.iter().map(|known| (known.metadata.name.as_str(), known)).collect();
        let owners = owners(services);
        let ranges = self.addresses.all_ranges().await?;
        for service in services {
            let owner = Owner { namespace: &service.metadata.namespace, name: &service.metadata.name };
            for address in ip_allocator::of(&service.spec).filter_map(parse_ip_sloppy) {
                if !ranges.iter().any(|range| ip_allocator::holds(range, address)) {
                    tracing::error!(
                        %address, owner.namespace, owner.name,
                        "cluster IP is not within any service CIDR; recreate the service"
                    );
                    continue;
                }
                match by_name.get(address.to_string().as_str()) {
                    Some(known) if ip_allocator::belongs_to(known, &owner) && ip_allocator::is_labelled(known) => {}
                    Some(known)
                        if !ip_allocator::belongs_to(known, &owner) && refers_to_one_of(known, &owners[&address]) =>
                    {
                        tracing::error!(%address, owner.namespace, owner.name, "cluster IP was assigned to multiple services");
                    }
                    Some(known) => {
                        tracing::warn!(
                            %address, owner.namespace, owner.name,
                            "cluster IP has a wrong reference or labels; repaired"
                        );
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

    /// Releases managed addresses that no service uses.
    async fn release_addresses(&self, known: &[IPAddress], services: &[Service], leaked: Leaked) {
        let owners = owners(services);
        let now = self.clock.now().unix();
        for known in known.iter().filter(|known| ip_allocator::is_managed(known)) {
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
                        "cannot release a leaked cluster IP; retrying"
                    );
                }
            }
        }
    }
}

/// A fault of a service's node port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    NotAllocated,
    Duplicate,
    OutOfRange,
}

impl Fault {
    /// The label `type` of the metric.
    fn label(self) -> &'static str {
        match self {
            Fault::NotAllocated => "repair",
            Fault::Duplicate => "duplicate",
            Fault::OutOfRange => "outOfRange",
        }
    }

    fn message(self) -> &'static str {
        match self {
            Fault::NotAllocated => "node port of a service was not allocated; registered",
            Fault::Duplicate => "node port was assigned to multiple services; recreate the service",
            Fault::OutOfRange => "node port is not within the port range; recreate the service",
        }
    }
}

/// The result of comparing the services' node ports with the allocation.
struct Findings<'s> {
    used: HashSet<i32>,
    faults: Vec<(Fault, i32, &'s Service)>,
}

impl<'s> Findings<'s> {
    fn of(services: &'s [Service], ports: &NodePorts, allocated: &HashSet<i32>) -> Self {
        let mut found = Findings { used: HashSet::new(), faults: Vec::new() };
        for service in services {
            for port in ports::of(&service.spec).collect::<HashSet<_>>() {
                let fault = match () {
                    () if !ports.is_in_range(port) => Fault::OutOfRange,
                    () if !found.used.insert(port) => Fault::Duplicate,
                    () if !allocated.contains(&port) => Fault::NotAllocated,
                    () => continue,
                };
                found.faults.push((fault, port, service));
            }
        }
        found
    }
}

/// The number of consecutive repairs that found a node port unused.
#[derive(Clone, Default)]
struct Leaks(HashMap<i32, u32>);

impl Leaks {
    /// Counts unused ports, and returns those that are leaked.
    fn count_unused(&mut self, ports: HashSet<i32>) -> Vec<i32> {
        self.0.retain(|port, _| ports.contains(port));
        for port in ports {
            *self.0.entry(port).or_default() += 1;
        }
        self.0.extract_if(|_, seen| *seen >= REPAIRS_BEFORE_LEAK_CLEANUP).map(|(port, _)| port).collect()
    }
}

/// Returns the services of each address.
fn owners(services: &[Service]) -> HashMap<IpAddr, Vec<&Service>> {
    let mut owners: HashMap<IpAddr, Vec<&Service>> = HashMap::new();
    for service in services {
        for address in ip_allocator::of(&service.spec).filter_map(parse_ip_sloppy) {
            owners.entry(address).or_default().push(service);
        }
    }
    owners
}

fn refers_to_one_of(known: &IPAddress, services: &[&Service]) -> bool {
    let owner = |service: &Service| {
        let metadata = &service.metadata;
        ip_allocator::belongs_to(known, &Owner { namespace: &metadata.namespace, name: &metadata.name })
    };
    services.iter().any(|service| owner(service))
}

/// Metrics of the repair.
struct Metrics {
    failures: IntCounter,
    ports: IntCounterVec,
}

impl Metrics {
    /// Creates and registers the metrics.
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
        let _ = registry.register(Box::new(failures.clone())); // fails only for duplicate names
        let _ = registry.register(Box::new(ports.clone()));
        Metrics { failures, ports }
    }

    fn count(&self, kind: &str) {
        self.ports.with_label_values(&[kind]).inc();
    }
}

#[cfg(test)]
mod tests {
    use generated::core::v1::ServicePort;

    use super::*;

    #[test]
    fn releases_port_after_three_repairs_without_service() {
        let mut leaks = Leaks::default();
        assert_eq!(leaks.count_unused(HashSet::from([1, 2])), [0; 0]);
        assert_eq!(leaks.count_unused(HashSet::from([1])), [0; 0]);
        assert_eq!(leaks.count_unused(HashSet::from([1, 2])), [1]);
        assert_eq!(leaks.count_unused(HashSet::from([2])), [0; 0]);
        assert_eq!(leaks.count_unused(HashSet::from([2])), [2]);
        assert!(leaks.0.is_empty());
    }

    fn service(node_port: i32) -> Service {
        let mut service = Service::default();
        service.spec.r#type = "NodePort".into();
        service.spec.ports = vec![ServicePort { node_port, ..ServicePort::default() }];
        service
    }

    #[tokio::test]
    async fn excludes_ports_of_pending_writes() {
        let ports = Arc::new(NodePorts::new("30000-30003".parse().unwrap(), None));
        let seen = ports.seen().await.unwrap();
        assert!(ports.correct(&seen, &[30000], &[]).await.unwrap());
        let mut pending = ports::PortAllocationOperation::new(ports.clone(), false);
        let mut spec = service(0).spec;
        assert!(pending.allocate(&mut spec).await.is_ok());
        assert_eq!(ports.seen().await.unwrap().ports, HashSet::from([30000]));
        pending.finish(registry::WriteOutcome::Unknown).await;
        assert_eq!(ports.seen().await.unwrap().ports, HashSet::from([30000, spec.ports[0].node_port]));
    }

    #[test]
    fn finds_faults_of_service_ports() {
        let ports = NodePorts::new("30000-30003".parse().unwrap(), None);
        let services = [service(30000), service(30001), service(30001), service(29999)];
        let found = Findings::of(&services, &ports, &HashSet::from([30000, 30003]));
        let faults: Vec<_> = found.faults.iter().map(|(fault, port, _)| (*fault, *port)).collect();
        let expect = [(Fault::NotAllocated, 30001), (Fault::Duplicate, 30001), (Fault::OutOfRange, 29999)];
        assert_eq!(faults, expect);
        assert_eq!(found.used, HashSet::from([30000, 30001]));
    }
}
