//! Addresses and ports of services: what a cluster gives, what it takes back when a service changes.
//!
//! What is in use is read from the stored services, so that nothing has to be kept in step or repaired (upstream keeps bitmaps and
//! IPAddress objects). It runs at the end of admission, because strategies neither wait nor see other objects.

pub mod families;
mod ports;
mod update;

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use endpoints::{Attributes, Environment};
use generated::core::v1::{Service, ServiceSpec, service_external_traffic_policy, service_type};
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::reflect::Owned;
use machinery::status::{GroupResource, Status};
use serving::options::{Cidr, ServiceOptions};

use crate::admission::all;

/// The address of services that have none (`ClusterIPNone`).
pub const NONE: &str = "None";

/// Gives services what they need.
pub struct Allocator {
    options: ServiceOptions,
    /// How many addresses and ports were given: each begins its search behind the one before, so that what was just freed, or is being
    /// given to somebody else at this moment, comes last.
    given: AtomicU64,
}

/// What other services use.
struct InUse {
    addresses: HashSet<IpAddr>,
    ports: HashSet<i32>,
}

impl Allocator {
    pub fn new(options: &ServiceOptions) -> Self {
        Allocator { options: options.clone(), given: AtomicU64::new(0) }
    }

    /// Completes a service that is about to be stored.
    pub async fn admit(
        &self,
        environment: &Environment,
        attributes: &Attributes,
        object: &mut Owned,
        old: Option<&Owned>,
    ) -> Result<(), Status> {
        let Some(service) = object.downcast_mut::<Service>() else { return Ok(()) };
        let old = old.and_then(Owned::downcast_ref::<Service>).map(|o| &o.spec);
        update::normalize(&mut service.spec, old);
        if service.spec.r#type == service_type::EXTERNAL_NAME {
            return Ok(());
        }
        let mut in_use = InUse::of(environment, attributes).await?;
        if attributes.dry_run {
            in_use = InUse { addresses: HashSet::new(), ports: HashSet::new() };
        }
        let name = &service.metadata.name;
        let refuse = |error| Status::invalid(GroupResource { group: "", resource: "Service" }, name, &[error]);
        families::choose(&mut service.spec, old, &self.options.cluster_ip_ranges).map_err(refuse)?;
        self.give_addresses(&mut service.spec, old, &in_use).map_err(refuse)?;
        self.give_ports(&mut service.spec, &mut in_use).map_err(refuse)?;
        self.give_health_check_port(&mut service.spec, old, &in_use)
    }

    fn next(&self) -> u64 {
        self.given.fetch_add(1, Ordering::Relaxed)
    }

    /// An address for each family that has none yet.
    fn give_addresses(
        &self,
        spec: &mut ServiceSpec,
        old: Option<&ServiceSpec>,
        in_use: &InUse,
    ) -> Result<(), FieldError> {
        if !needs_address(spec) {
            return Ok(());
        }
        let path = Path::new("spec");
        let path = path.child("clusterIPs");
        let refuse = |ips: &[String], why: String| Err(FieldError::invalid(&path, BadValue::strings(ips), why));
        for (index, text) in spec.cluster_ips.iter().enumerate() {
            if old.is_some_and(|old| old.cluster_ips.contains(text)) {
                continue;
            }
            let Ok(address) = text.parse::<IpAddr>() else { return Ok(()) };
            let why = if !self.options.cluster_ip_ranges.iter().any(|range| holds(range, address)) {
                "the provided network does not match the current range"
            } else if in_use.addresses.contains(&address) {
                "provided IP is already allocated"
            } else {
                continue;
            };
            return refuse(&spec.cluster_ips[index..=index], format!("failed to allocate IP {text}: {why}"));
        }
        for family in spec.ip_families.iter().skip(spec.cluster_ips.len()) {
            let range = self.options.cluster_ip_ranges.iter().find(|range| families::of(range.base) == family);
            match range.and_then(|range| self.free_address(range, in_use)) {
                Some(address) => spec.cluster_ips.push(address.to_string()),
                None => return refuse(&[], "failed to allocate a serviceIP: range is full".into()),
            }
        }
        spec.cluster_ip = spec.cluster_ips.first().cloned().unwrap_or_default();
        Ok(())
    }

    /// A free address, from the lower band only when nothing else is left (KEP-3070).
    fn free_address(&self, range: &Cidr, in_use: &InUse) -> Option<IpAddr> {
        let bits = u32::from(range.width() - range.prefix).min(64);
        let size = (1u128 << bits).saturating_sub(2);
        let band = (size / 16).clamp(16, 256).min(size);
        let upper = size - band;
        let start = if upper == 0 { 0 } else { u128::from(self.next()) % upper };
        let candidates = (0..upper).map(|n| band + (start + n) % upper).chain(0..band);
        candidates.filter_map(|n| range.nth(n + 1)).find(|address| !in_use.addresses.contains(address))
    }

    /// The port that balancers ask about health.
    fn give_health_check_port(
        &self,
        spec: &mut ServiceSpec,
        old: Option<&ServiceSpec>,
        in_use: &InUse,
    ) -> Result<(), Status> {
        if !needs_health_check_port(spec) || old.is_some_and(needs_health_check_port) {
            return Ok(());
        }
        let refuse = |why: &str, port: i32| {
            Err(Status::internal(format!("failed to allocate requested HealthCheck NodePort {port}: {why}")))
        };
        let asked = spec.health_check_node_port;
        match ports::take(&self.options.node_port_range, in_use, asked) {
            Err(why) => return refuse(&why, asked),
            Ok(()) if asked != 0 => return Ok(()),
            Ok(()) => {}
        }
        match ports::free(&self.options.node_port_range, in_use, self.next()) {
            Some(port) => spec.health_check_node_port = port,
            None => return Err(Status::internal("failed to allocate a HealthCheck NodePort : range is full")),
        }
        Ok(())
    }
}

impl InUse {
    /// What all services but the one that is written use.
    async fn of(environment: &Environment, but: &Attributes) -> Result<Self, Status> {
        let mut out = InUse { addresses: HashSet::new(), ports: HashSet::new() };
        for other in all::<Service>(environment, ("", "services")).await? {
            if other.metadata.namespace == but.namespace && other.metadata.name == but.name {
                continue;
            }
            out.addresses.extend(other.spec.cluster_ips.iter().filter_map(|ip| ip.parse::<IpAddr>().ok()));
            out.ports.extend(other.spec.ports.iter().map(|p| p.node_port).filter(|p| *p != 0));
            out.ports.extend(Some(other.spec.health_check_node_port).filter(|p| *p != 0));
        }
        Ok(out)
    }
}

/// Whether an address can be given from a range: its first one is the network's, the last one of IPv4 broadcasts.
fn holds(range: &Cidr, address: IpAddr) -> bool {
    let bits = range.width() - range.prefix;
    let last = 1u128.checked_shl(bits.into()).and_then(|size| range.nth(size - 1));
    range.contains(address) && address != range.base && !(address.is_ipv4() && Some(address) == last)
}

fn is_headless(spec: &ServiceSpec) -> bool {
    spec.cluster_ip == NONE || spec.cluster_ips.first().is_some_and(|ip| ip == NONE)
}

/// Whether services of this type have addresses.
fn is_addressed(spec: &ServiceSpec) -> bool {
    matches!(spec.r#type.as_str(), service_type::CLUSTER_IP | service_type::NODE_PORT | service_type::LOAD_BALANCER)
}

fn needs_address(spec: &ServiceSpec) -> bool {
    is_addressed(spec) && !is_headless(spec)
}

fn needs_health_check_port(spec: &ServiceSpec) -> bool {
    spec.r#type == service_type::LOAD_BALANCER && spec.external_traffic_policy == service_external_traffic_policy::LOCAL
}
