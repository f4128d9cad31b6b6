//! Node ports.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use generated::core::v1::{Service, ServiceSpec, service_type};
use generated::hatches::core::needs_health_check;
use machinery::field_error::FieldError;
use machinery::field_path::Path;
use registry::Outcome;
use serving::options::PortRange;

use super::Refusal;

const FULL: &str = "range is full";
/// Where a dry run begins to make up ports.
const MADE_UP: i32 = 32768;

/// All node ports that services use.
pub struct NodePorts {
    range: PortRange,
    taken: Mutex<Taken>,
    /// How many ports were given: each search begins behind the one before, so that what was just freed comes last.
    given: AtomicU64,
}

/// The ports that are taken.
#[derive(Default)]
struct Taken {
    /// By stored services or by writes that have not ended.
    used: HashSet<i32>,
    /// Those of writes that have not ended.
    pending: HashSet<i32>,
}

impl Taken {
    fn reserve(&mut self, port: i32) -> bool {
        let is_free = self.used.insert(port);
        if is_free {
            self.pending.insert(port);
        }
        is_free
    }
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
    /// The ports of a range, of which these services use some.
    pub fn new(range: PortRange, services: &[Service]) -> Self {
        let used = services.iter().flat_map(|service| of(&service.spec)).collect();
        let taken = Taken { used, pending: HashSet::new() };
        NodePorts { range, taken: Mutex::new(taken), given: AtomicU64::new(0) }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ports that are taken and that no write of this server is about to use.
    pub fn in_use(&self) -> HashSet<i32> {
        let taken = self.taken();
        taken.used.difference(&taken.pending).copied().collect()
    }

    /// Takes the port of a stored service; false when it is taken already.
    pub fn register(&self, port: i32) -> bool {
        self.taken().used.insert(port)
    }

    fn take(&self, port: i32) -> Result<(), String> {
        let PortRange { first, last } = self.range;
        if !(i32::from(first)..=i32::from(last)).contains(&port) {
            return Err(format!("provided port is not in the valid range. The range of valid ports is {first}-{last}"));
        }
        if self.taken().reserve(port) { Ok(()) } else { Err(taken()) }
    }

    /// A free port, from the lower band only when nothing else is left (KEP-3668).
    fn next(&self) -> Option<i32> {
        let (first, last) = (i32::from(self.range.first), i32::from(self.range.last));
        let size = last - first + 1;
        let band = if size < 32 { 0 } else { (size / 32).clamp(16, 128) };
        let upper = size - band;
        let start = self.given.fetch_add(1, Ordering::Relaxed) % u64::try_from(upper).ok()?;
        let start = i32::try_from(start).ok()?;
        let mut candidates = (0..upper).map(|n| first + band + (start + n) % upper).chain(first..first + band);
        let mut taken = self.taken();
        candidates.find(|port| taken.reserve(*port))
    }

    pub fn give_back(&self, ports: impl IntoIterator<Item = i32>) {
        let mut taken = self.taken();
        for port in ports {
            taken.used.remove(&port);
        }
    }

    /// Ends the pending state of ports whose service is stored, or not, by now.
    fn settle(&self, ports: &[i32]) {
        let mut taken = self.taken();
        for port in ports {
            taken.pending.remove(port);
        }
    }
}

fn taken() -> String {
    "provided port is already allocated".into()
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
    fn take(&mut self, port: i32) -> Result<(), String> {
        if !self.dry_run {
            self.ports.take(port)?;
        } else if self.taken.contains(&port) || self.ports.taken().used.contains(&port) {
            return Err(taken());
        }
        self.taken.push(port);
        Ok(())
    }

    fn next(&mut self) -> Option<i32> {
        let made_up = || self.taken.iter().copied().max().unwrap_or(MADE_UP) + 1;
        let port = if self.dry_run { made_up() } else { self.ports.next()? };
        self.taken.push(port);
        Some(port)
    }

    /// What will be free once the write is done.
    pub fn free(&mut self, ports: impl IntoIterator<Item = i32>) {
        self.freed.extend(ports);
    }

    /// Ends the operation; a second call does nothing.
    pub fn finish(&mut self, outcome: Outcome) {
        let freed = match outcome {
            _ if self.dry_run => return,
            Outcome::Stored => &self.freed[..],
            Outcome::NotStored => &self.taken[..],
            Outcome::Unknown => &[],
        };
        self.ports.give_back(freed.iter().copied());
        self.ports.settle(&self.taken);
        self.taken.clear();
        self.freed.clear();
    }

    fn asked(&mut self, index: usize, port: i32) -> Result<(), Refusal> {
        self.take(port).map_err(|why| {
            let path = Path::new("spec");
            let path = path.child("ports");
            Refusal::Asked(FieldError::invalid(&path.index(index).child("nodePort"), port, why))
        })
    }

    fn any(&mut self) -> Result<i32, Refusal> {
        self.next().ok_or_else(|| Refusal::Exhausted(format!("failed to allocate a nodePort: {FULL}")))
    }

    /// Ports of a service that had none: one number serves all protocols of a port (`initNodePorts`).
    pub fn give(&mut self, spec: &mut ServiceSpec) -> Result<(), Refusal> {
        let gives = gives(spec);
        let mut of_port: HashMap<i32, i32> = HashMap::new();
        for index in 0..spec.ports.len() {
            let (port, asked) = (spec.ports[index].port, spec.ports[index].node_port);
            if asked == 0 && !gives {
                continue;
            }
            let number = match of_port.get(&port).copied() {
                Some(shared) if asked == 0 || asked == shared => shared,
                Some(_) => {
                    self.asked(index, asked)?;
                    asked
                }
                None => {
                    let wanted = spec.ports.iter().find(|other| other.port == port && other.node_port != 0);
                    let number = match wanted.map(|other| other.node_port) {
                        Some(wanted) => self.asked(index, wanted).map(|()| wanted)?,
                        None => self.any()?,
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
    pub fn change(&mut self, spec: &mut ServiceSpec, old: &ServiceSpec) -> Result<(), Refusal> {
        let gives = gives(spec);
        let had: Vec<i32> = of_ports(old).collect();
        let mut seen: Vec<(String, i32)> = Vec::new();
        for index in 0..spec.ports.len() {
            let asked = spec.ports[index].node_port;
            if asked == 0 && !gives {
                continue;
            }
            if asked == 0 {
                spec.ports[index].node_port = self.any()?;
            } else if !had.contains(&asked) && !seen.iter().any(|(_, number)| *number == asked) {
                self.asked(index, asked)?;
            }
            let now = (spec.ports[index].protocol.clone(), spec.ports[index].node_port);
            if seen.contains(&now) {
                return Err(Refusal::Exhausted(format!("duplicate nodePort: {{{} {}}}", now.0, now.1)));
            }
            seen.push(now);
        }
        let kept: Vec<i32> = of_ports(spec).collect();
        self.free(had.into_iter().filter(|number| !kept.contains(number)));
        Ok(())
    }

    /// The port that balancers ask about health (`allocHealthCheckNodePort`).
    pub fn give_health_check(&mut self, spec: &mut ServiceSpec) -> Result<(), Refusal> {
        let asked = spec.health_check_node_port;
        if asked != 0 {
            let why = |why| format!("failed to allocate requested HealthCheck NodePort {asked}: {why}");
            return self.take(asked).map_err(|refusal| Refusal::Exhausted(why(refusal)));
        }
        let full = || Refusal::Exhausted(format!("failed to allocate a HealthCheck NodePort 0: {FULL}"));
        spec.health_check_node_port = self.next().ok_or_else(full)?;
        Ok(())
    }
}

/// Whether ports without a number get one (`shouldAllocateNodePorts`).
fn gives(spec: &ServiceSpec) -> bool {
    spec.r#type == service_type::NODE_PORT || spec.allocate_load_balancer_node_ports != Some(false)
}
