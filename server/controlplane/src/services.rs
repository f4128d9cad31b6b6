//! Allocation of cluster IPs and node ports of services.
//!
//! The IPAddress object of an address names its service, so the store resolves conflicts. Servers
//! that share a store also keep the allocated node ports there.

mod default_range;
mod failure;
pub mod families;
pub mod ip_allocator;
pub mod kubernetes;
mod masters;
mod metrics;
mod ports;
mod repair;
mod stored;
mod unallocated;
mod update;

use std::sync::Arc;

use ::kubernetes::core::{needs_health_check, needs_node_ports};
use async_trait::async_trait;
use endpoints::Loopback;
use generated::core::v1::{Service, ServiceSpec};
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::json_name;
use machinery::reflect::Owned;
use machinery::scalar::go_text::quote;
use machinery::status::{GroupResource, Status};
use options::Options;
use prometheus::Registry;
use registry::{Backend, Informers, Reservation, WriteContext, WriteHook, WriteOutcome};
use serving::shutdown::Shutdown;

use failure::AllocationFailure;
use ip_allocator::{IpAllocator, Owner};
pub use ports::NODE_PORTS_KEY;
use ports::{NodePorts, PortAllocationOperation, StoredAllocation};
use repair::{Leaked, Repair};
pub use stored::NONE;
use stored::all;
use unallocated::Unallocated;

/// The parts of a server that the allocators use.
pub struct AllocatorContext<'a> {
    pub informers: &'a Informers,
    pub backend: &'a Backend,
    pub options: &'a Options,
    pub registry: &'a Registry,
    pub shutdown: &'a Shutdown,
}

/// Starts the allocators and registers the write hook of services.
pub async fn start(context: AllocatorContext<'_>, loopback: &Arc<Loopback>) -> Result<(), Status> {
    let AllocatorContext { informers, backend, options, registry, shutdown } = context;
    let (stores, ranges) = (informers.stores(), &options.services.cluster_ip_ranges);
    let Some(store) = stores.get(&("", "services")) else { return Ok(()) };
    // Addresses come from ServiceCIDRs.
    default_range::start(ranges, &backend.clock, informers, shutdown, loopback).await?;
    let range = options.services.node_port_range;
    let addresses = Arc::new(IpAllocator::new(stores, loopback, ranges, registry));
    let counted = Arc::downgrade(&addresses);
    metrics::Usage::register(
        registry,
        Box::new(move || counted.upgrade().map(|addresses| addresses.used()).unwrap_or_default()),
    );
    // With an embedded store, no other server creates services, and this server does not accept
    // requests yet.
    let is_shared = !options.storage.etcd.servers.is_empty();
    let Backend { prefix, as_json, clock, .. } = backend;
    let shared = is_shared.then(|| StoredAllocation::new(store.store.clone(), prefix, range, *as_json));
    let ports = Arc::new(NodePorts::new(range, shared));
    ports.metrics.register(registry);
    let mut repair = Repair::new((stores, clock), &addresses, &ports, registry);
    repair.once(if is_shared { Leaked::Aged } else { Leaked::Any }).await?;
    tokio::spawn(repair.run(shutdown.clone()));
    store.set_write_hook(Arc::new(Allocator { addresses, ports, loopback: loopback.clone() }));
    Ok(())
}

/// The write hook that allocates addresses and ports.
struct Allocator {
    addresses: Arc<IpAllocator>,
    ports: Arc<NodePorts>,
    loopback: Arc<Loopback>,
}

#[async_trait]
impl WriteHook for Allocator {
    async fn begin(
        &self,
        context: &WriteContext,
        new: &mut Owned,
        old: Option<&Owned>,
    ) -> Result<Box<dyn Reservation>, Status> {
        let dry_run = context.dry_run;
        let mut allocation = Allocation {
            addresses: self.addresses.clone(),
            owner: (String::new(), String::new()),
            dry_run,
            taken: Vec::new(),
            freed: Vec::new(),
            ports: PortAllocationOperation::new(self.ports.clone(), dry_run),
        };
        let Some(service) = new.downcast_mut::<Service>().filter(|_| context.subresource.is_empty()) else {
            return Ok(Box::new(allocation));
        };
        allocation.owner = (service.metadata.namespace.clone(), service.metadata.name.clone());
        let old = old.and_then(Owned::downcast_ref::<Service>).map(|old| &old.spec);
        match self.allocate(context, &mut allocation, service, old).await {
            Ok(()) => Ok(Box::new(allocation)),
            Err(refused) => {
                Box::new(allocation).finish(WriteOutcome::NotStored).await;
                Err(refused)
            }
        }
    }

    /// Releases the addresses and ports of a deleted service, and deletes its Endpoints.
    async fn after_delete(&self, object: &Owned) {
        let Some(service) = object.downcast_ref::<Service>() else { return };
        let metadata = &service.metadata;
        if let Err(status) = self.loopback.delete(("", "v1", "endpoints"), &metadata.namespace, &metadata.name).await {
            tracing::error!(
                namespace = metadata.namespace,
                name = metadata.name,
                why = status.message,
                "cannot delete the Endpoints of a deleted service"
            );
        }
        let owner = Owner { namespace: &metadata.namespace, name: &metadata.name };
        for address in ip_allocator::of(&service.spec) {
            self.addresses.free_address(address, &owner).await;
        }
        self.ports.release_ports(ports::of(&service.spec)).await;
    }
}

impl Allocator {
    /// `allocateCreate`, `allocateUpdate`
    async fn allocate(
        &self,
        context: &WriteContext,
        allocation: &mut Allocation,
        service: &mut Service,
        old: Option<&ServiceSpec>,
    ) -> Result<(), Status> {
        let (name, spec) = (service.metadata.name.clone(), &mut service.spec);
        let refuse =
            |errors: &[FieldError]| Status::invalid(GroupResource { group: "", resource: "Service" }, &name, errors);
        update::complete(spec, old);
        let unchanged = old.is_some_and(|old| families::is_unchanged(spec, old));
        if !unchanged {
            let errors = families::choose(context, spec, old, &self.addresses.families());
            if !errors.is_empty() {
                return Err(refuse(&errors));
            }
            let owner = Owner { namespace: &service.metadata.namespace, name: &name };
            allocation.addresses(spec, old, &owner).await.map_err(|refusal| refusal.into_status(refuse))?;
        }
        allocation.ports(spec, old).await.map_err(|refusal| refusal.into_status(refuse))
    }
}

fn not_allocated(spec: &ServiceSpec, why: String) -> AllocationFailure {
    let path = Path::new(json_name!(Service.spec));
    AllocationFailure::Invalid(FieldError::invalid(
        &path.child(json_name!(ServiceSpec.cluster_ips)),
        BadValue::strings(&spec.cluster_ips),
        why,
    ))
}

/// The addresses and ports that a write has allocated so far, and those that it will release.
struct Allocation {
    addresses: Arc<IpAllocator>,
    /// Namespace and name of the service.
    owner: (String, String),
    dry_run: bool,
    taken: Vec<String>,
    freed: Vec<String>,
    ports: PortAllocationOperation,
}

impl Allocation {
    /// `allocClusterIPs`, `updateClusterIPs`
    async fn addresses(
        &mut self,
        spec: &mut ServiceSpec,
        old: Option<&ServiceSpec>,
        owner: &Owner<'_>,
    ) -> Result<(), AllocationFailure> {
        let first = match old.filter(|old| families::is_addressed(old)) {
            None if !families::is_addressed(spec) || is_headless(spec) => return Ok(()),
            None => 0,
            Some(old) if is_headless(old) => return Ok(()),
            Some(old) if !families::is_addressed(spec) => {
                self.freed.extend(ip_allocator::of(old).map(String::from));
                return Ok(());
            }
            Some(old) => {
                // The first address is immutable; the second depends on the second family.
                if old.ip_families.len() > spec.ip_families.len() {
                    self.freed.extend(old.cluster_ips.get(1).cloned());
                }
                old.ip_families.len()
            }
        };
        for index in first..spec.ip_families.len() {
            if spec.cluster_ips.len() <= index {
                spec.cluster_ips.push(String::new());
            }
        }
        for index in first..spec.ip_families.len() {
            self.address(spec, index, owner).await?;
        }
        if let Some(primary) = spec.cluster_ips.first().filter(|_| first == 0) {
            spec.cluster_ip.clone_from(primary);
        }
        Ok(())
    }

    async fn address(
        &mut self,
        spec: &mut ServiceSpec,
        index: usize,
        owner: &Owner<'_>,
    ) -> Result<(), AllocationFailure> {
        let requested = spec.cluster_ips[index].clone();
        if requested.is_empty() {
            let next = self.addresses.allocate_next(&spec.ip_families[index], owner, self.dry_run).await;
            let next = next.map_err(|why| match why {
                Unallocated::Full => {
                    let service = quote(owner.name);
                    AllocationFailure::Exhausted(format!("failed to allocate a serviceIP for Service {service}: {why}"))
                }
                _ => not_allocated(spec, format!("failed to allocate IP: {why}")),
            })?;
            spec.cluster_ips[index].clone_from(&next);
            self.taken.push(next);
            return Ok(());
        }
        if let Err(why) = self.addresses.allocate(&requested, owner, self.dry_run).await {
            return Err(not_allocated(spec, format!("failed to allocate IP {requested}: {why}")));
        }
        self.taken.push(requested);
        Ok(())
    }

    /// `txnAllocNodePorts`, `txnUpdateNodePorts`
    async fn ports(&mut self, spec: &mut ServiceSpec, old: Option<&ServiceSpec>) -> Result<(), AllocationFailure> {
        match old {
            None if needs_node_ports(spec) => self.ports.allocate(spec).await?,
            None => {}
            Some(old) => {
                if needs_node_ports(spec) {
                    self.ports.change(spec, old).await?;
                } else if needs_node_ports(old) {
                    self.ports.free(ports::of_ports(old));
                }
            }
        }
        let had = old.is_some_and(needs_health_check);
        match (had, needs_health_check(spec)) {
            (false, true) => self.ports.allocate_health_check(spec).await,
            (true, false) => {
                self.ports.free(old.map(|old| old.health_check_node_port));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Allocation {
    /// Leaves allocated addresses to the periodic repair if a panic interrupts the write. After
    /// [`finish`](Reservation::finish) this does nothing.
    fn drop(&mut self) {
        if !self.dry_run {
            self.addresses.clear_pending(&self.taken);
        }
    }
}

#[async_trait]
impl Reservation for Allocation {
    async fn finish(mut self: Box<Self>, outcome: WriteOutcome) {
        self.ports.finish(outcome).await;
        let freed = match outcome {
            _ if self.dry_run => return,
            WriteOutcome::Stored => &self.freed[..],
            WriteOutcome::NotStored => &self.taken[..],
            WriteOutcome::Unknown => &[],
        };
        let owner = Owner { namespace: &self.owner.0, name: &self.owner.1 };
        for address in freed {
            self.addresses.free_address(address, &owner).await;
        }
        self.addresses.clear_pending(&self.taken);
        self.taken.clear();
    }
}

fn is_headless(spec: &ServiceSpec) -> bool {
    spec.cluster_ips.first().is_some_and(|first| first == NONE)
}
