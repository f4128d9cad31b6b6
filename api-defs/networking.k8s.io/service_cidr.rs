use crate::meta::{Condition, ObjectMeta};

/// Adds an IP range from which Service cluster IPs can be drawn.
#[kind(plural = "servicecidrs", scope = Cluster, generation = false)]
#[versions(v1(introduced = "1.33"), v1beta1(introduced = "1.31"))]
#[subresource(status)]
#[column("CIDRs", join(spec.cidrs))]
#[column("Age", age)]
#[check(spec, below, when(create))]
#[check(self, by_hand = validate_range_update, when(update, not(subresource = status)))]
pub struct ServiceCIDR {
    /// Object name and labels; the built-in range is called `kubernetes`.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Address ranges this object contributes.
    #[field(2)]
    pub spec: ServiceCIDRSpec,

    /// Readiness of the ranges for allocation.
    #[field(3)]
    pub status: ServiceCIDRStatus,
}

/// Range definition for Service IP allocation.
#[check(cidrs, required = "at least one CIDR required")]
#[check(self, by_hand = validate_ranges, when(set(cidrs)))]
pub struct ServiceCIDRSpec {
    /// One range, or an IPv4 and IPv6 pair; immutable once created.
    #[field(1, list = atomic)]
    pub cidrs: Vec<String>,
}

/// Observed readiness of a Service range.
pub struct ServiceCIDRStatus {
    /// Observations such as `Ready`; false while the range is being removed.
    #[field(1, list = map(type), patch = merge)]
    pub conditions: Vec<Condition>,
}
