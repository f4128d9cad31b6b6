//! Allocation of cluster IPs: ServiceCIDR ranges and IPAddress objects (KEP-1880).

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use apimachinery::meta::v1::{condition_status, status_reason};
use endpoints::{GroupVersionResource, Loopback};
use generated::core::v1::{ServiceSpec, pod_condition_type};
use generated::networking::v1::{IPAddress, ParentReference, ServiceCIDR};
use machinery::format::ip::parse_ip_sloppy;
use machinery::status::{GroupResource, Status};
use options::Cidr;
use prometheus::Registry;
use registry::{Precondition, Stores};

use super::metrics::{AddressMetrics, AllocationScope};
use super::unallocated::Unallocated;
use super::{NONE, all, families};

const ADDRESSES: GroupVersionResource = ("networking.k8s.io", "v1", "ipaddresses");
pub const SERVICE_CIDRS: GroupVersionResource = ("networking.k8s.io", "v1", "servicecidrs");

/// The name of the ServiceCIDR with the ranges of the flag.
pub const DEFAULT_RANGE: &str = "kubernetes";
/// The condition of a ServiceCIDR that is used for allocation.
pub const READY: &str = pod_condition_type::READY;
const FAMILY: &str = "ipaddress.kubernetes.io/ip-family";
const MANAGED_BY: &str = "ipaddress.kubernetes.io/managed-by";
const MANAGER: &str = "ipallocator.k8s.io";
/// The resource of owners of addresses.
const SERVICES: &str = "services";

/// The service that owns an address.
pub struct Owner<'a> {
    pub namespace: &'a str,
    pub name: &'a str,
}

/// The allocator of cluster IPs.
pub struct IpAllocator {
    stores: Arc<Stores>,
    loopback: Arc<Loopback>,
    /// The ranges of `--service-cluster-ip-range`.
    flagged: Vec<Cidr>,
    /// Number of allocations. Each search starts after the previous one, so that released addresses
    /// are reused last.
    allocation_count: AtomicU64,
    /// Addresses that writes of this server have allocated and no stored service has yet.
    pending: Mutex<HashSet<String>>,
    /// The ranges of the last allocation.
    known: Mutex<Vec<Cidr>>,
    metrics: AddressMetrics,
}

/// Returns the cluster IPs of a service.
pub fn of(spec: &ServiceSpec) -> impl Iterator<Item = &str> {
    let addressed = families::is_addressed(spec);
    spec.cluster_ips.iter().map(String::as_str).filter(move |address| addressed && *address != NONE)
}

impl IpAllocator {
    pub fn new(stores: &Arc<Stores>, loopback: &Arc<Loopback>, flagged: &[Cidr], registry: &Registry) -> Self {
        let (stores, loopback, flagged) = (stores.clone(), loopback.clone(), flagged.to_vec());
        let metrics = AddressMetrics::register(registry);
        let (pending, known) = Default::default();
        IpAllocator { stores, loopback, flagged, allocation_count: AtomicU64::new(0), pending, known, metrics }
    }

    /// Returns the IP families of the cluster, default first.
    pub fn families(&self) -> Vec<&'static str> {
        self.flagged.iter().map(|range| families::of(range.base)).collect()
    }

    /// Returns the ranges of the ServiceCIDRs for which `select` holds, the default first. If
    /// ServiceCIDRs are not served, returns the ranges of the flag.
    async fn ranges(&self, select: impl Fn(&ServiceCIDR) -> bool) -> Result<Vec<Cidr>, Status> {
        if !self.loopback.serves(SERVICE_CIDRS) {
            return Ok(self.flagged.to_vec());
        }
        let mut stored: Vec<ServiceCIDR> = all(&self.stores, (SERVICE_CIDRS.0, SERVICE_CIDRS.2)).await?;
        stored.retain(select);
        stored.sort_by_key(|stored| stored.metadata.name != DEFAULT_RANGE);
        let ranges = stored.iter().flat_map(|stored| &stored.spec.cidrs);
        Ok(ranges.filter_map(|range| range.parse::<Cidr>().ok()).collect())
    }

    /// Returns the ranges for new addresses.
    async fn ready_ranges(&self) -> Result<Vec<Cidr>, Unallocated> {
        let ranges = self.ranges(is_ready).await?;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&ranges);
        Ok(ranges)
    }

    /// Returns all ranges, including those that are not ready.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn all_ranges(&self) -> Result<Vec<Cidr>, Status> {
        self.ranges(|_| true).await
    }

    /// Allocates this address, which must be free. A dry run only checks the range.
    ///
    /// # Errors
    /// When the address is allocated or in no range, or the store fails.
    pub async fn allocate(&self, address: &str, owner: &Owner<'_>, dry_run: bool) -> Result<(), Unallocated> {
        let address = parse_ip_sloppy(address).ok_or(Unallocated::OtherNetwork)?;
        if dry_run {
            let range = self.flagged.iter().find(|range| range.base.is_ipv4() == address.is_ipv4());
            return match range {
                Some(range) if holds(range, address) => Ok(()),
                Some(range) => Err(Unallocated::AddressOutOfRange { address, range: *range }),
                None => Err(Unallocated::OtherNetwork),
            };
        }
        let (began, ranges) = (Instant::now(), self.ready_ranges().await?);
        let range = ranges.iter().find(|range| holds(range, address)).ok_or(Unallocated::OtherNetwork)?;
        let reserved = self.reserve(address, owner).await;
        match &reserved {
            Ok(()) => self.metrics.given(range, AllocationScope::Static, began),
            Err(_) => self.metrics.refused(range, AllocationScope::Static),
        }
        match reserved {
            Err(status) if status.reason == status_reason::ALREADY_EXISTS => Err(Unallocated::AddressTaken),
            done => Ok(done?),
        }
    }

    /// Returns the ranges, each with its number of allocated addresses and its size.
    pub fn used(&self) -> Vec<(Cidr, u64, u64)> {
        let ranges = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(store) = self.stores.get(&(ADDRESSES.0, ADDRESSES.2)) else { return Vec::new() };
        let snapshot = store.cache.snapshot();
        let names = snapshot.iter().filter_map(|entry| std::str::from_utf8(&entry.key).ok()?.rsplit('/').next());
        let addresses: Vec<IpAddr> = names.filter_map(|name| name.parse().ok()).collect();
        let used = |range: &Cidr| addresses.iter().filter(|address| range.contains(**address)).count() as u64;
        ranges.iter().map(|range| (*range, used(range), u64::try_from(size(range)).unwrap_or(u64::MAX))).collect()
    }

    /// Allocates an address of a family. The lower band of a range is used last (KEP-3070). A dry
    /// run returns the base of the range.
    ///
    /// # Errors
    /// When all addresses are allocated, or the store fails.
    pub async fn allocate_next(&self, family: &str, owner: &Owner<'_>, dry_run: bool) -> Result<String, Unallocated> {
        let ranges = if dry_run { self.flagged.to_vec() } else { self.ready_ranges().await? };
        for range in ranges.iter().filter(|range| families::of(range.base) == family) {
            if dry_run {
                return Ok(range.base.to_string());
            }
            let (start, began) = (self.allocation_count.fetch_add(1, Ordering::Relaxed), Instant::now());
            for address in candidates(range, start) {
                if self.is_taken(address).await {
                    continue;
                }
                match self.reserve(address, owner).await {
                    Ok(()) => {
                        self.metrics.given(range, AllocationScope::Dynamic, began);
                        return Ok(address.to_string());
                    }
                    Err(status) if status.reason == status_reason::ALREADY_EXISTS => {}
                    Err(status) => {
                        self.metrics.refused(range, AllocationScope::Dynamic);
                        return Err(status.into());
                    }
                }
            }
            self.metrics.refused(range, AllocationScope::Dynamic);
        }
        Err(Unallocated::Full)
    }

    async fn is_taken(&self, address: IpAddr) -> bool {
        let Some(store) = self.stores.get(&(ADDRESSES.0, ADDRESSES.2)) else { return false };
        store.get_entry("", &address.to_string(), "0").await.is_ok()
    }

    /// Creates the IPAddress of a service before it is stored.
    async fn reserve(&self, address: IpAddr, owner: &Owner<'_>) -> Result<(), Status> {
        let name = address.to_string();
        // A pending address belongs to another write, even if its IPAddress is not stored yet.
        if !self.pending().insert(name.clone()) {
            return Err(Status::already_exists(GroupResource { group: ADDRESSES.0, resource: ADDRESSES.2 }, &name));
        }
        let created = self.create(address, owner).await;
        if created.is_err() {
            self.pending().remove(&name);
        }
        created
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

    /// Releases an address unless another service owns it. The periodic repair retries failed
    /// releases.
    pub async fn free_address(&self, address: &str, owner: &Owner<'_>) {
        let Some(address) = parse_ip_sloppy(address).map(|address| address.to_string()) else { return };
        let freed = match self.loopback.get::<IPAddress>(ADDRESSES, "", &address).await {
            Ok(Some(stored)) if belongs_to(&stored, owner) => self.release(&stored).await,
            other => other.map(drop),
        };
        if let Err(status) = freed {
            tracing::error!(
                address,
                why = status.message,
                "cannot release the cluster IP of a service; the repair releases it"
            );
        }
    }

    /// Clears the pending state of addresses after the write of their service has finished.
    pub fn clear_pending(&self, addresses: &[String]) {
        let mut pending = self.pending();
        for address in addresses.iter().filter_map(|address| parse_ip_sloppy(address)) {
            pending.remove(&address.to_string());
        }
    }

    /// Whether an unfinished write of this server has allocated an address.
    pub fn is_pending(&self, address: &str) -> bool {
        self.pending().contains(address)
    }

    fn pending(&self) -> MutexGuard<'_, HashSet<String>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists all IPAddress objects.
    pub async fn all(&self) -> Result<Vec<IPAddress>, Status> {
        all(&self.stores, (ADDRESSES.0, ADDRESSES.2)).await
    }

    /// Deletes this IPAddress, but not a later one with the same name.
    pub async fn release(&self, known: &IPAddress) -> Result<(), Status> {
        let precondition = Precondition { uid: Some(known.metadata.uid.clone()), resource_version: None };
        match self.loopback.delete_if(ADDRESSES, "", &known.metadata.name, precondition).await {
            Err(status) if status.reason == status_reason::CONFLICT => Ok(()),
            done => done,
        }
    }

    /// Creates the IPAddress of a stored service, unless it exists.
    pub async fn register(&self, address: IpAddr, owner: &Owner<'_>) -> Result<(), Status> {
        match self.create(address, owner).await {
            Err(status) if status.reason != status_reason::ALREADY_EXISTS => Err(status),
            _ => Ok(()),
        }
    }
}

/// Whether an IPAddress belongs to a service.
pub fn belongs_to(known: &IPAddress, owner: &Owner<'_>) -> bool {
    known.spec.parent_ref.as_deref().is_some_and(|parent| {
        parent.group.is_empty()
            && (parent.resource.as_str(), parent.namespace.as_str(), parent.name.as_str())
                == (SERVICES, owner.namespace, owner.name)
    })
}

/// Whether an IPAddress has the labels of the allocator (`verifyIPAddressLabels`).
pub fn is_labelled(known: &IPAddress) -> bool {
    let family = known.metadata.name.parse().map(families::of);
    is_managed(known)
        && family.is_ok_and(|family| known.metadata.labels.get(FAMILY).is_some_and(|label| label == family))
}

/// Whether the allocator, not a user, created an IPAddress.
pub fn is_managed(known: &IPAddress) -> bool {
    known.metadata.labels.get(MANAGED_BY).is_some_and(|by| by == MANAGER)
}

/// Whether a range is used for allocation. Without the `Ready` condition it is.
fn is_ready(range: &ServiceCIDR) -> bool {
    let ready = range.status.conditions.iter().find(|condition| condition.r#type == READY);
    range.metadata.deletion_timestamp.is_none()
        && ready.is_none_or(|condition| condition.status == condition_status::TRUE)
}

/// Returns the number of allocatable addresses: all but the network address and the IPv4 broadcast
/// address.
fn size(range: &Cidr) -> u128 {
    let bits = u32::from(range.width() - range.prefix).min(64);
    (1u128 << bits).saturating_sub(if range.base.is_ipv4() { 2 } else { 1 })
}

/// Whether an address of a range is allocatable.
pub fn holds(range: &Cidr, address: IpAddr) -> bool {
    range.contains(address) && address != range.base && range.nth(size(range) + 1) != Some(address)
}

/// Returns the addresses of a range in allocation order.
fn candidates(range: &Cidr, start: u64) -> impl Iterator<Item = IpAddr> + '_ {
    let size = size(range);
    let band = if size < 16 { 0 } else { (size / 16).clamp(16, 256).min(size) };
    let upper = size - band;
    let start = u128::from(start) % upper.max(1);
    (0..upper).map(move |n| band + (start + n) % upper).chain(0..band).filter_map(|n| range.nth(n + 1))
}
