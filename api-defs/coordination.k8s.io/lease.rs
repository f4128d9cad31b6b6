use crate::meta::ObjectMeta;

/// Lightweight lock object for leader election and node heartbeats.
#[kind(plural = "leases", scope = Namespaced, create_on_update, unconditional_update = false)]
#[versions(
    v1(introduced = "1.14"),
    v1beta1(unserved, introduced = "1.12", deprecated = "1.19", replacement = "coordination.k8s.io/v1 Lease")
)]
#[column("Holder", spec.holderIdentity or "")]
#[column("Age", age)]
#[check(spec, below)]
pub struct Lease {
    /// Name, namespace, labels and annotations of the Lease.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Holder of the lock and the time of its last renewal.
    #[field(2)]
    pub spec: LeaseSpec,
}

/// Ownership and timing of a lock.
#[check(leaseDurationSeconds, min(1, "must be greater than 0"))]
#[check(leaseTransitions, not_negative)]
#[check(strategy, at("strategy.strategy", format = lease_strategy))]
#[check(
    preferredHolder,
    forbidden = "may only be specified if `strategy` is defined",
    when(not(preferredHolder = ""), strategy = "")
)]
pub struct LeaseSpec {
    /// Current owner of the lock; empty when released.
    #[field(1)]
    pub holder_identity: Option<String>,

    /// Seconds after `renewTime` until others may take the lock over.
    #[field(2)]
    pub lease_duration_seconds: Option<i32>,

    /// When the current owner got the lock.
    #[field(3)]
    pub acquire_time: Option<MicroTime>,

    /// When the current owner last confirmed it is alive.
    #[field(4)]
    pub renew_time: Option<MicroTime>,

    /// How often the lock has changed owner.
    #[field(5)]
    pub lease_transitions: Option<i32>,

    /// How the leader is picked in coordinated leader election.
    #[field(6, gate = CoordinatedLeaderElection)]
    pub strategy: Option<CoordinatedLeaseStrategy>,

    /// Better candidate to which the owner should yield; needs `strategy`.
    #[field(7, gate = CoordinatedLeaderElection)]
    pub preferred_holder: Option<String>,
}

/// Methods for picking a leader among candidates.
#[open]
pub enum CoordinatedLeaseStrategy {
    OldestEmulationVersion,
}
