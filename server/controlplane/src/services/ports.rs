//! Allocation of node ports.
//!
//! Servers that share a store keep the allocated ports there ([`StoredAllocation`]), so that no
//! port is allocated twice. A server with an embedded store keeps them in memory.

mod bitmap;
mod shared;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use generated::core::v1::{Service, ServicePort, ServiceSpec, service_type};
use kubernetes::core::needs_health_check;
use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::json_name;
use machinery::status::Status;
use options::PortRange;
use registry::WriteOutcome;

use super::AllocationFailure;
use super::metrics::{AllocationScope, PortMetrics};
use super::unallocated::Unallocated;
use bitmap::Bitmap;
use shared::{AllocationSnapshot, Unchanged};
pub use shared::{NODE_PORTS_KEY, StoredAllocation};

/// The ports of dry runs start after this port.
const DRY_RUN_BASE: i32 = 32768;

/// The allocator of node ports.
pub struct NodePorts {
    range: PortRange,
    allocated: Allocated,
    /// Ports that writes of this server have allocated and no stored service has yet.
    pending: Mutex<HashSet<i32>>,
    /// Number of allocations. Each search starts after the previous one, so that released ports are
    /// reused last.
    allocation_count: AtomicU64,
    pub metrics: PortMetrics,
}

/// The location of the allocated ports.
enum Allocated {
    /// For an embedded store.
    Memory(Mutex<Bitmap>),
    Store(StoredAllocation),
}

/// A snapshot of the allocated ports, for the repair.
pub struct Seen {
    snapshot: AllocationSnapshot,
    /// The ports without the pending ones.
    pub ports: HashSet<i32>,
}

/// Returns the node ports of a service, including the health check port.
pub fn of(spec: &ServiceSpec) -> impl Iterator<Item = i32> + '_ {
    of_ports(spec).chain(needs_health_check(spec).then_some(spec.health_check_node_port))
}

/// Returns the node ports without the health check port (`collectServiceNodePorts`).
pub fn of_ports(spec: &ServiceSpec) -> impl Iterator<Item = i32> + '_ {
    spec.ports.iter().map(|port| port.node_port).filter(|number| *number != 0)
}

impl NodePorts {
    /// Creates the allocator of a range. `shared` is the allocation in a shared store.
    pub fn new(range: PortRange, shared: Option<StoredAllocation>) -> Self {
        let allocated = match shared {
            Some(shared) => Allocated::Store(shared),
            None => Allocated::Memory(Mutex::new(Bitmap::new(range))),
        };
        let (pending, metrics) = Default::default();
        NodePorts { range, allocated, pending, allocation_count: AtomicU64::new(0), metrics }
    }

    /// Whether a port is in the range.
    pub fn is_in_range(&self, port: i32) -> bool {
        u16::try_from(port).is_ok_and(|port| self.range.contains(port))
    }

    /// Returns the currently allocated ports.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn seen(&self) -> Result<Seen, Status> {
        let snapshot = match &self.allocated {
            Allocated::Memory(ports) => {
                AllocationSnapshot { ports: lock(ports).clone(), revision: 0, is_of_range: true }
            }
            Allocated::Store(shared) => shared.read().await?,
        };
        let pending = lock(&self.pending);
        let ports = snapshot.ports.iter().filter(|port| !pending.contains(port)).collect();
        drop(pending);
        Ok(Seen { snapshot, ports })
    }

    /// Allocates the ports of stored services and releases unused ports. Returns false, without a
    /// change, if the allocation has changed since the snapshot.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn correct(&self, seen: &Seen, used: &[i32], unused: &[i32]) -> Result<bool, Status> {
        let correct = |ports: &mut Bitmap| {
            for port in used {
                ports.insert(*port);
            }
            for port in unused {
                ports.remove(*port);
            }
        };
        match &self.allocated {
            Allocated::Memory(ports) => {
                correct(&mut lock(ports));
                Ok(true)
            }
            Allocated::Store(shared) => {
                let mut ports = seen.snapshot.ports.clone();
                correct(&mut ports);
                let AllocationSnapshot { revision, is_of_range, .. } = seen.snapshot;
                let is_correct = revision > 0 && is_of_range && ports == seen.snapshot.ports;
                if is_correct { Ok(true) } else { shared.replace(&seen.snapshot, &ports).await }
            }
        }
    }

    async fn change<T>(&self, mut change: impl FnMut(&mut Bitmap) -> Result<T, Unallocated>) -> Result<T, Unallocated> {
        let size = usize::from(self.range.last - self.range.first) + 1;
        let mut change = |ports: &mut Bitmap| {
            let changed = change(ports);
            self.metrics.used(ports.len(), size);
            changed
        };
        match &self.allocated {
            Allocated::Memory(ports) => change(&mut lock(ports)),
            Allocated::Store(shared) => shared.change(change).await.map_err(|unchanged| match unchanged {
                Unchanged::Refused(why) => why,
                Unchanged::Failed(status) => status.into(),
            }),
        }
    }

    async fn take(&self, port: i32) -> Result<(), Unallocated> {
        let taken = self.try_take(port).await;
        self.metrics.observe_allocation(AllocationScope::Static, &taken);
        taken
    }

    async fn try_take(&self, port: i32) -> Result<(), Unallocated> {
        if !self.is_in_range(port) {
            return Err(Unallocated::PortOutOfRange { range: self.range });
        }
        self.change(|ports| if ports.insert(port) { Ok(()) } else { Err(Unallocated::PortTaken) }).await?;
        lock(&self.pending).insert(port);
        Ok(())
    }

    /// Allocates a free port. The lower band is used last (KEP-3668).
    async fn next(&self) -> Result<i32, Unallocated> {
        let (first, last) = (i32::from(self.range.first), i32::from(self.range.last));
        let size = last - first + 1;
        let band = if size < 32 { 0 } else { (size / 32).clamp(16, 128) };
        let upper = size - band;
        let start = self.allocation_count.fetch_add(1, Ordering::Relaxed) % u64::from(upper.unsigned_abs());
        let start = i32::try_from(start).unwrap_or_default();
        let candidates = || (0..upper).map(|n| first + band + (start + n) % upper).chain(first..first + band);
        let found = self.change(|ports| candidates().find(|port| ports.insert(*port)).ok_or(Unallocated::Full)).await;
        self.metrics.observe_allocation(AllocationScope::Dynamic, &found);
        let port = found?;
        lock(&self.pending).insert(port);
        Ok(port)
    }

    /// Releases ports. The repair retries failed releases.
    pub async fn release_ports(&self, ports: impl IntoIterator<Item = i32>) {
        let freed: Vec<i32> = ports.into_iter().collect();
        if freed.is_empty() {
            return;
        }
        let release = |ports: &mut Bitmap| {
            freed.iter().for_each(|port| ports.remove(*port));
            Ok(())
        };
        if let Err(error) = self.change(release).await {
            tracing::error!(ports = ?freed, %error, "cannot release node ports; the repair releases them");
        }
    }

    /// Clears the pending state of ports after the write of their service has finished.
    fn clear_pending(&self, ports: &[i32]) {
        let mut pending = lock(&self.pending);
        for port in ports {
            pending.remove(port);
        }
    }

    async fn is_taken(&self, port: i32) -> Result<bool, Unallocated> {
        match &self.allocated {
            Allocated::Memory(ports) => Ok(lock(ports).contains(port)),
            Allocated::Store(shared) => Ok(shared.read().await?.ports.contains(port)),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The allocations and releases of one write (`PortAllocationOperation`).
pub struct PortAllocationOperation {
    ports: Arc<NodePorts>,
    dry_run: bool,
    taken: Vec<i32>,
    freed: Vec<i32>,
}

impl PortAllocationOperation {
    pub fn new(ports: Arc<NodePorts>, dry_run: bool) -> Self {
        PortAllocationOperation { ports, dry_run, taken: Vec::new(), freed: Vec::new() }
    }

    /// A dry run allocates nothing and does not check the range.
    async fn take(&mut self, port: i32) -> Result<(), Unallocated> {
        if !self.dry_run {
            self.ports.take(port).await?;
        } else if self.taken.contains(&port) || self.ports.is_taken(port).await? {
            return Err(Unallocated::PortTaken);
        }
        self.taken.push(port);
        Ok(())
    }

    async fn next(&mut self) -> Result<i32, Unallocated> {
        let simulated = || self.taken.iter().copied().max().unwrap_or(DRY_RUN_BASE) + 1;
        let port = if self.dry_run { simulated() } else { self.ports.next().await? };
        self.taken.push(port);
        Ok(port)
    }

    /// Adds ports to release after the write.
    pub fn free(&mut self, ports: impl IntoIterator<Item = i32>) {
        self.freed.extend(ports);
    }

    /// Ends the operation; a second call does nothing.
    pub async fn finish(&mut self, outcome: WriteOutcome) {
        let (taken, freed) = (std::mem::take(&mut self.taken), std::mem::take(&mut self.freed));
        let unused = match outcome {
            _ if self.dry_run => return,
            WriteOutcome::Stored => freed,
            WriteOutcome::NotStored => taken.clone(),
            WriteOutcome::Unknown => Vec::new(),
        };
        self.ports.release_ports(unused).await;
        self.ports.clear_pending(&taken);
    }

    async fn allocate_requested(&mut self, index: usize, port: i32) -> Result<(), AllocationFailure> {
        self.take(port).await.map_err(|why| {
            let path = Path::new(json_name!(Service.spec));
            let path = path.child(json_name!(ServiceSpec.ports));
            AllocationFailure::Invalid(FieldError::invalid(
                &path.index(index).child(json_name!(ServicePort.node_port)),
                port,
                why.to_string(),
            ))
        })
    }

    async fn allocate_any(&mut self) -> Result<i32, AllocationFailure> {
        self.next().await.map_err(|why| AllocationFailure::Exhausted(format!("failed to allocate a nodePort: {why}")))
    }

    /// Allocates ports for a service without any. One number serves all protocols of a port
    /// (`initNodePorts`).
    pub async fn allocate(&mut self, spec: &mut ServiceSpec) -> Result<(), AllocationFailure> {
        let allocates_missing = allocates_missing(spec);
        let mut of_port: HashMap<i32, i32> = HashMap::new();
        // If a port has several numbers, the first one counts.
        let wanted = spec.ports.iter().rev().filter(|port| port.node_port != 0);
        let wanted: HashMap<i32, i32> = wanted.map(|port| (port.port, port.node_port)).collect();
        for index in 0..spec.ports.len() {
            let (port, requested) = (spec.ports[index].port, spec.ports[index].node_port);
            if requested == 0 && !allocates_missing {
                continue;
            }
            let number = match of_port.get(&port).copied() {
                Some(shared) if requested == 0 || requested == shared => shared,
                Some(_) => {
                    self.allocate_requested(index, requested).await?;
                    requested
                }
                None => {
                    let number = match wanted.get(&port).copied() {
                        Some(wanted) => self.allocate_requested(index, wanted).await.map(|()| wanted)?,
                        None => self.allocate_any().await?,
                    };
                    of_port.insert(port, number);
                    number
                }
            };
            spec.ports[index].node_port = number;
        }
        Ok(())
    }

    /// Updates the ports of a service that may have some (`updateNodePorts`).
    pub async fn change(&mut self, spec: &mut ServiceSpec, old: &ServiceSpec) -> Result<(), AllocationFailure> {
        let allocates_missing = allocates_missing(spec);
        let had: HashSet<i32> = of_ports(old).collect();
        let mut seen: HashSet<(String, i32)> = HashSet::new();
        let mut numbers: HashSet<i32> = HashSet::new();
        for index in 0..spec.ports.len() {
            let requested = spec.ports[index].node_port;
            if requested == 0 && !allocates_missing {
                continue;
            }
            if requested == 0 {
                spec.ports[index].node_port = self.allocate_any().await?;
            } else if !had.contains(&requested) && !numbers.contains(&requested) {
                self.allocate_requested(index, requested).await?;
            }
            let now = (spec.ports[index].protocol.clone(), spec.ports[index].node_port);
            if seen.contains(&now) {
                return Err(AllocationFailure::Exhausted(format!("duplicate nodePort: {{{} {}}}", now.0, now.1)));
            }
            numbers.insert(now.1);
            seen.insert(now);
        }
        let kept: HashSet<i32> = of_ports(spec).collect();
        self.free(had.into_iter().filter(|number| !kept.contains(number)));
        Ok(())
    }

    /// Allocates the health check port (`allocHealthCheckNodePort`).
    pub async fn allocate_health_check(&mut self, spec: &mut ServiceSpec) -> Result<(), AllocationFailure> {
        let requested = spec.health_check_node_port;
        if requested != 0 {
            let why =
                |why: Unallocated| format!("failed to allocate requested HealthCheck NodePort {requested}: {why}");
            return self.take(requested).await.map_err(|refusal| AllocationFailure::Exhausted(why(refusal)));
        }
        let failed = |why: Unallocated| {
            AllocationFailure::Exhausted(format!("failed to allocate a HealthCheck NodePort 0: {why}"))
        };
        spec.health_check_node_port = self.next().await.map_err(failed)?;
        Ok(())
    }
}

impl Drop for PortAllocationOperation {
    /// Releases the ports if a panic interrupts the write. After
    /// [`finish`](PortAllocationOperation::finish) this does nothing.
    fn drop(&mut self) {
        if self.dry_run || self.taken.is_empty() {
            return;
        }
        let (ports, taken) = (self.ports.clone(), std::mem::take(&mut self.taken));
        ports.clear_pending(&taken);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { ports.release_ports(taken).await });
        }
    }
}

/// Whether ports without a number get one (`shouldAllocateNodePorts`).
fn allocates_missing(spec: &ServiceSpec) -> bool {
    spec.r#type == service_type::NODE_PORT || spec.allocate_load_balancer_node_ports != Some(false)
}
