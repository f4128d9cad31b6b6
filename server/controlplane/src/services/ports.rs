//! Node ports.
//!
//! Servers that share a store keep the allocated ports there ([`Shared`]), so that no two of them give one port twice. A server with
//! a store of its own keeps them in memory.

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
use registry::Outcome;
use serving::options::PortRange;

use super::Refusal;
use super::metrics::{PortMetrics, Scope};
use bitmap::Bitmap;
pub use shared::Shared;
use shared::{Snapshot, Unchanged};

const FULL: &str = "range is full";
const TAKEN: &str = "provided port is already allocated";
/// Where a dry run begins to make up ports.
const MADE_UP: i32 = 32768;

/// All node ports that services use.
pub struct NodePorts {
    range: PortRange,
    allocated: Allocated,
    /// Ports that writes of this server have taken and that no stored service has yet.
    pending: Mutex<HashSet<i32>>,
    /// How many ports were given: each search begins behind the one before, so that what was just freed comes last.
    given: AtomicU64,
    pub metrics: PortMetrics,
}

/// Where the allocated ports are kept.
enum Allocated {
    /// No other server has the store.
    Memory(Mutex<Bitmap>),
    Store(Shared),
}

/// The ports that were allocated at some moment, for the repair.
pub struct Seen {
    snapshot: Snapshot,
    /// Those that no write of this server is about to use.
    pub ports: HashSet<i32>,
}

/// The numbers on every node that a service uses.
pub fn of(spec: &ServiceSpec) -> impl Iterator<Item = i32> + '_ {
    of_ports(spec).chain(needs_health_check(spec).then_some(spec.health_check_node_port))
}

/// The same without the one for health checks (`collectServiceNodePorts`).
pub fn of_ports(spec: &ServiceSpec) -> impl Iterator<Item = i32> + '_ {
    spec.ports.iter().map(|port| port.node_port).filter(|number| *number != 0)
}

impl NodePorts {
    /// The ports of a range; `shared` keeps them when other servers have the same store.
    pub fn new(range: PortRange, shared: Option<Shared>) -> Self {
        let allocated = match shared {
            Some(shared) => Allocated::Store(shared),
            None => Allocated::Memory(Mutex::new(Bitmap::new(range))),
        };
        let (pending, metrics) = Default::default();
        NodePorts { range, allocated, pending, given: AtomicU64::new(0), metrics }
    }

    /// Whether a port can be allocated at all.
    pub fn is_in_range(&self, port: i32) -> bool {
        u16::try_from(port).is_ok_and(|port| self.range.contains(port))
    }

    /// The ports that are allocated now.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn seen(&self) -> Result<Seen, Status> {
        let snapshot = match &self.allocated {
            Allocated::Memory(ports) => Snapshot { ports: lock(ports).clone(), revision: 0, is_of_range: true },
            Allocated::Store(shared) => shared.read().await?,
        };
        let pending = lock(&self.pending);
        let ports = snapshot.ports.iter().filter(|port| !pending.contains(port)).collect();
        drop(pending);
        Ok(Seen { snapshot, ports })
    }

    /// Allocates the ports that stored services use, and releases those that none uses. False when the allocation was changed after
    /// it was seen: nothing is done then.
    ///
    /// # Errors
    /// Those of the store.
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
                let Snapshot { revision, is_of_range, .. } = seen.snapshot;
                let is_correct = revision > 0 && is_of_range && ports == seen.snapshot.ports;
                if is_correct { Ok(true) } else { shared.replace(&seen.snapshot, &ports).await }
            }
        }
    }

    async fn change<T>(&self, mut change: impl FnMut(&mut Bitmap) -> Result<T, &'static str>) -> Result<T, String> {
        let size = usize::from(self.range.last - self.range.first) + 1;
        let mut change = |ports: &mut Bitmap| {
            let changed = change(ports);
            self.metrics.used(ports.len(), size);
            changed
        };
        match &self.allocated {
            Allocated::Memory(ports) => change(&mut lock(ports)).map_err(String::from),
            Allocated::Store(shared) => shared.change(change).await.map_err(|unchanged| match unchanged {
                Unchanged::Refused(why) => why.to_owned(),
                Unchanged::Failed(status) => status.message,
            }),
        }
    }

    async fn take(&self, port: i32) -> Result<(), String> {
        let taken = self.try_take(port).await;
        self.metrics.asked(Scope::Static, &taken);
        taken
    }

    async fn try_take(&self, port: i32) -> Result<(), String> {
        if !self.is_in_range(port) {
            let range = self.range;
            return Err(format!("provided port is not in the valid range. The range of valid ports is {range}"));
        }
        self.change(|ports| if ports.insert(port) { Ok(()) } else { Err(TAKEN) }).await?;
        lock(&self.pending).insert(port);
        Ok(())
    }

    /// Takes a free port, from the lower band only when nothing else is left (KEP-3668).
    async fn next(&self) -> Result<i32, String> {
        let (first, last) = (i32::from(self.range.first), i32::from(self.range.last));
        let size = last - first + 1;
        let band = if size < 32 { 0 } else { (size / 32).clamp(16, 128) };
        let upper = size - band;
        let start = self.given.fetch_add(1, Ordering::Relaxed) % u64::from(upper.unsigned_abs());
        let start = i32::try_from(start).unwrap_or_default();
        let candidates = || (0..upper).map(|n| first + band + (start + n) % upper).chain(first..first + band);
        let found = self.change(|ports| candidates().find(|port| ports.insert(*port)).ok_or(FULL)).await;
        self.metrics.asked(Scope::Dynamic, &found);
        let port = found?;
        lock(&self.pending).insert(port);
        Ok(port)
    }

    /// Releases ports. The repair releases those that the store does not.
    pub async fn give_back(&self, ports: impl IntoIterator<Item = i32>) {
        let freed: Vec<i32> = ports.into_iter().collect();
        if freed.is_empty() {
            return;
        }
        let release = |ports: &mut Bitmap| {
            freed.iter().for_each(|port| ports.remove(*port));
            Ok(())
        };
        if let Err(why) = self.change(release).await {
            tracing::error!(ports = ?freed, why, "releasing node ports failed; the repair releases them");
        }
    }

    /// Ends the pending state of ports whose service is stored, or not, by now.
    fn settle(&self, ports: &[i32]) {
        let mut pending = lock(&self.pending);
        for port in ports {
            pending.remove(port);
        }
    }

    async fn is_taken(&self, port: i32) -> Result<bool, String> {
        match &self.allocated {
            Allocated::Memory(ports) => Ok(lock(ports).contains(port)),
            Allocated::Store(shared) => {
                shared.read().await.map(|snapshot| snapshot.ports.contains(port)).map_err(|status| status.message)
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What one write takes and frees (`PortAllocationOperation`).
pub struct Operation {
    ports: Arc<NodePorts>,
    dry_run: bool,
    taken: Vec<i32>,
    freed: Vec<i32>,
}

impl Operation {
    pub fn new(ports: Arc<NodePorts>, dry_run: bool) -> Self {
        Operation { ports, dry_run, taken: Vec::new(), freed: Vec::new() }
    }

    /// A dry run takes nothing and does not look at the range.
    async fn take(&mut self, port: i32) -> Result<(), String> {
        if !self.dry_run {
            self.ports.take(port).await?;
        } else if self.taken.contains(&port) || self.ports.is_taken(port).await? {
            return Err(TAKEN.into());
        }
        self.taken.push(port);
        Ok(())
    }

    async fn next(&mut self) -> Result<i32, String> {
        let made_up = || self.taken.iter().copied().max().unwrap_or(MADE_UP) + 1;
        let port = if self.dry_run { made_up() } else { self.ports.next().await? };
        self.taken.push(port);
        Ok(port)
    }

    /// What will be free once the write is done.
    pub fn free(&mut self, ports: impl IntoIterator<Item = i32>) {
        self.freed.extend(ports);
    }

    /// Ends the operation; a second call does nothing.
    pub async fn finish(&mut self, outcome: Outcome) {
        let (taken, freed) = (std::mem::take(&mut self.taken), std::mem::take(&mut self.freed));
        let unused = match outcome {
            _ if self.dry_run => return,
            Outcome::Stored => freed,
            Outcome::NotStored => taken.clone(),
            Outcome::Unknown => Vec::new(),
        };
        self.ports.give_back(unused).await;
        self.ports.settle(&taken);
    }

    async fn asked(&mut self, index: usize, port: i32) -> Result<(), Refusal> {
        self.take(port).await.map_err(|why| {
            let path = Path::new(json_name!(Service.spec));
            let path = path.child(json_name!(ServiceSpec.ports));
            Refusal::Asked(FieldError::invalid(&path.index(index).child(json_name!(ServicePort.node_port)), port, why))
        })
    }

    async fn any(&mut self) -> Result<i32, Refusal> {
        self.next().await.map_err(|why| Refusal::Exhausted(format!("failed to allocate a nodePort: {why}")))
    }

    /// Ports of a service that had none: one number serves all protocols of a port (`initNodePorts`).
    pub async fn give(&mut self, spec: &mut ServiceSpec) -> Result<(), Refusal> {
        let gives = gives(spec);
        let mut of_port: HashMap<i32, i32> = HashMap::new();
        // Of several numbers for one port, the first one counts.
        let wanted = spec.ports.iter().rev().filter(|port| port.node_port != 0);
        let wanted: HashMap<i32, i32> = wanted.map(|port| (port.port, port.node_port)).collect();
        for index in 0..spec.ports.len() {
            let (port, asked) = (spec.ports[index].port, spec.ports[index].node_port);
            if asked == 0 && !gives {
                continue;
            }
            let number = match of_port.get(&port).copied() {
                Some(shared) if asked == 0 || asked == shared => shared,
                Some(_) => {
                    self.asked(index, asked).await?;
                    asked
                }
                None => {
                    let number = match wanted.get(&port).copied() {
                        Some(wanted) => self.asked(index, wanted).await.map(|()| wanted)?,
                        None => self.any().await?,
                    };
                    of_port.insert(port, number);
                    number
                }
            };
            spec.ports[index].node_port = number;
        }
        Ok(())
    }

    /// Ports of a service that may have had some (`updateNodePorts`).
    pub async fn change(&mut self, spec: &mut ServiceSpec, old: &ServiceSpec) -> Result<(), Refusal> {
        let gives = gives(spec);
        let had: HashSet<i32> = of_ports(old).collect();
        let mut seen: HashSet<(String, i32)> = HashSet::new();
        let mut numbers: HashSet<i32> = HashSet::new();
        for index in 0..spec.ports.len() {
            let asked = spec.ports[index].node_port;
            if asked == 0 && !gives {
                continue;
            }
            if asked == 0 {
                spec.ports[index].node_port = self.any().await?;
            } else if !had.contains(&asked) && !numbers.contains(&asked) {
                self.asked(index, asked).await?;
            }
            let now = (spec.ports[index].protocol.clone(), spec.ports[index].node_port);
            if seen.contains(&now) {
                return Err(Refusal::Exhausted(format!("duplicate nodePort: {{{} {}}}", now.0, now.1)));
            }
            numbers.insert(now.1);
            seen.insert(now);
        }
        let kept: HashSet<i32> = of_ports(spec).collect();
        self.free(had.into_iter().filter(|number| !kept.contains(number)));
        Ok(())
    }

    /// The port that balancers ask about health (`allocHealthCheckNodePort`).
    pub async fn give_health_check(&mut self, spec: &mut ServiceSpec) -> Result<(), Refusal> {
        let asked = spec.health_check_node_port;
        if asked != 0 {
            let why = |why| format!("failed to allocate requested HealthCheck NodePort {asked}: {why}");
            return self.take(asked).await.map_err(|refusal| Refusal::Exhausted(why(refusal)));
        }
        let failed = |why| Refusal::Exhausted(format!("failed to allocate a HealthCheck NodePort 0: {why}"));
        spec.health_check_node_port = self.next().await.map_err(failed)?;
        Ok(())
    }
}

impl Drop for Operation {
    /// Releases the ports when a panic interrupts an allocation. After [`finish`](Operation::finish) nothing is left to do.
    fn drop(&mut self) {
        if self.dry_run || self.taken.is_empty() {
            return;
        }
        let (ports, taken) = (self.ports.clone(), std::mem::take(&mut self.taken));
        ports.settle(&taken);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { ports.give_back(taken).await });
        }
    }
}

/// Whether ports without a number get one (`shouldAllocateNodePorts`).
fn gives(spec: &ServiceSpec) -> bool {
    spec.r#type == service_type::NODE_PORT || spec.allocate_load_balancer_node_ports != Some(false)
}
