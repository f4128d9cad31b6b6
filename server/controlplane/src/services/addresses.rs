//! Cluster addresses: ranges that they come from, and the IPAddress object that each is (KEP-1880).

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use endpoints::{Environment, Loopback, Resource};
use generated::core::v1::{Service, ServiceSpec};
use generated::networking::v1::{IPAddress, ParentReference, ServiceCIDR};
use machinery::format::ip::parse_ip_sloppy;
use machinery::status::Status;
use serving::options::Cidr;

use super::{NONE, all, families};

const ADDRESSES: Resource = ("networking.k8s.io", "v1", "ipaddresses");
const FAMILY: &str = "ipaddress.kubernetes.io/ip-family";
const MANAGED_BY: &str = "ipaddress.kubernetes.io/managed-by";
const MANAGER: &str = "ipallocator.k8s.io";
/// What addresses belong to.
const SERVICES: &str = "services";

/// The service that an address is for.
pub struct Owner<'a> {
    pub namespace: &'a str,
    pub name: &'a str,
}

/// Gives addresses.
pub struct Addresses {
    environment: Arc<Environment>,
    loopback: Arc<Loopback>,
    /// How many addresses were given: each search begins behind the one before, so that what was just freed comes last.
    given: AtomicU64,
}

/// The addresses of a service.
pub fn of(spec: &ServiceSpec) -> impl Iterator<Item = &str> {
    let addressed = families::is_addressed(spec);
    spec.cluster_ips.iter().map(String::as_str).filter(move |address| addressed && *address != NONE)
}

impl Addresses {
    pub fn new(environment: &Arc<Environment>, loopback: &Arc<Loopback>) -> Self {
        Addresses { environment: environment.clone(), loopback: loopback.clone(), given: AtomicU64::new(0) }
    }

    fn flagged(&self) -> &[Cidr] {
        &self.environment.options.services.cluster_ip_ranges
    }

    /// The families of the cluster, its default first.
    pub fn families(&self) -> Vec<&'static str> {
        self.flagged().iter().map(|range| families::of(range.base)).collect()
    }

    /// The ranges of the flag, and those that ServiceCIDRs add and that are ready.
    async fn ranges(&self) -> Result<Vec<Cidr>, String> {
        let mut ranges = self.flagged().to_vec();
        let stored = all::<ServiceCIDR>(&self.environment, ("networking.k8s.io", "servicecidrs")).await;
        for added in stored.map_err(|status| status.message)?.iter().filter(|added| is_ready(added)) {
            ranges.extend(added.spec.cidrs.iter().filter_map(|range| range.parse::<Cidr>().ok()));
        }
        Ok(ranges)
    }

    /// Takes this address, which nobody else must have. A dry run takes nothing, and looks only at the range.
    pub async fn take(&self, address: &str, owner: &Owner<'_>, dry_run: bool) -> Result<(), String> {
        let mismatch = || "the provided network does not match the current range".to_owned();
        let address = parse_ip_sloppy(address).ok_or_else(mismatch)?;
        if dry_run {
            let range = self.flagged().iter().find(|range| range.base.is_ipv4() == address.is_ipv4());
            return match range {
                Some(range) if holds(range, address) => Ok(()),
                Some(range) => Err(format!(
                    "the provided IP ({address}) is not in the valid range. The range of valid IPs is {range}"
                )),
                None => Err(mismatch()),
            };
        }
        if !self.ranges().await?.iter().any(|range| holds(range, address)) {
            return Err(mismatch());
        }
        match self.create(address, owner).await {
            Err(status) if status.reason == "AlreadyExists" => Err("provided IP is already allocated".into()),
            done => done.map_err(|status| status.message),
        }
    }

    /// Takes some address of a family, from the lower band of a range only when nothing else is left (KEP-3070). A dry run makes one up.
    pub async fn next(&self, family: &str, owner: &Owner<'_>, dry_run: bool) -> Result<String, String> {
        let ranges = if dry_run { self.flagged().to_vec() } else { self.ranges().await? };
        for range in ranges.iter().filter(|range| families::of(range.base) == family) {
            if dry_run {
                return Ok(range.base.to_string());
            }
            let start = self.given.fetch_add(1, Ordering::Relaxed);
            for address in candidates(range, start) {
                if self.is_taken(address).await {
                    continue;
                }
                match self.create(address, owner).await {
                    Ok(()) => return Ok(address.to_string()),
                    Err(status) if status.reason == "AlreadyExists" => {}
                    Err(status) => return Err(status.message),
                }
            }
        }
        Err("range is full".into())
    }

    async fn is_taken(&self, address: IpAddr) -> bool {
        let Some(store) = self.environment.stores.get(&(ADDRESSES.0, ADDRESSES.2)) else { return false };
        store.get_entry("", &address.to_string(), "0").await.is_ok()
    }

    async fn create(&self, address: IpAddr, owner: &Owner<'_>) -> Result<(), Status> {
        let mut object = IPAddress::default();
        object.metadata.name = address.to_string();
        object.metadata.labels =
            [(FAMILY, families::of(address)), (MANAGED_BY, MANAGER)].map(|(k, v)| (k.into(), v.into())).into();
        object.spec.parent_ref = Some(Box::new(ParentReference {
            resource: SERVICES.into(),
            namespace: owner.namespace.into(),
            name: owner.name.into(),
            ..ParentReference::default()
        }));
        self.loopback.create(ADDRESSES, object).await.map(drop)
    }

    /// Frees an address. One that cannot be freed now is when the server starts again.
    pub async fn give_back(&self, address: &str) {
        let Some(address) = parse_ip_sloppy(address) else { return };
        if let Err(status) = self.loopback.delete(ADDRESSES, "", &address.to_string()).await {
            tracing::error!(%address, why = status.message, "freeing the address of a service");
        }
    }

    /// Frees what belongs to no service, and takes what services have: what a server that stopped in between left undone.
    pub async fn repair(&self, services: &[Service]) -> Result<(), Status> {
        let objects = all::<IPAddress>(&self.environment, (ADDRESSES.0, ADDRESSES.2)).await?;
        let mut known: HashSet<IpAddr> = HashSet::new();
        for service in services {
            let owner = Owner { namespace: &service.metadata.namespace, name: &service.metadata.name };
            for address in of(&service.spec).filter_map(parse_ip_sloppy) {
                known.insert(address);
                match self.create(address, &owner).await {
                    Err(status) if status.reason != "AlreadyExists" => return Err(status),
                    _ => {}
                }
            }
        }
        let managed = |object: &&IPAddress| object.metadata.labels.get(MANAGED_BY).is_some_and(|by| by == MANAGER);
        for object in objects.iter().filter(managed) {
            if !object.metadata.name.parse().is_ok_and(|address| known.contains(&address)) {
                self.give_back(&object.metadata.name).await;
            }
        }
        Ok(())
    }
}

/// Whether addresses may be taken from an added range; without a controller that says so, they may.
fn is_ready(range: &ServiceCIDR) -> bool {
    let ready = range.status.conditions.iter().find(|condition| condition.r#type == "Ready");
    range.metadata.deletion_timestamp.is_none() && ready.is_none_or(|condition| condition.status == "True")
}

/// How many addresses of a range can be given: not the first, which is the network's, nor the last of IPv4, which broadcasts.
fn size(range: &Cidr) -> u128 {
    let bits = u32::from(range.width() - range.prefix).min(64);
    (1u128 << bits).saturating_sub(if range.base.is_ipv4() { 2 } else { 1 })
}

fn holds(range: &Cidr, address: IpAddr) -> bool {
    range.contains(address) && address != range.base && range.nth(size(range) + 1) != Some(address)
}

/// The addresses of a range in the order in which to try them.
fn candidates(range: &Cidr, start: u64) -> impl Iterator<Item = IpAddr> + '_ {
    let size = size(range);
    let band = if size < 16 { 0 } else { (size / 16).clamp(16, 256).min(size) };
    let upper = size - band;
    let start = u128::from(start) % upper.max(1);
    (0..upper).map(move |n| band + (start + n) % upper).chain(0..band).filter_map(|n| range.nth(n + 1))
}
