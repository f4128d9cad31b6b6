//! The lease of the controllers, `kube-system/kube-controller-manager`: controllers of one process
//! act at a time, here or in a kube-controller-manager (upstream: `client-go/tools/leaderelection`).
//!
//! As upstream, the times in the lease are not compared with the clock of this host. A lease counts
//! as expired when this process has not seen it change for its duration.

use std::sync::Arc;
use std::time::Duration;

use endpoints::Loopback;
use generated::coordination::v1::{Lease, LeaseSpec};
use machinery::status::Status;
use registry::{Clock, ListQuery, ResourceStore, WatchStream};
use tokio::time::Instant;

use crate::events;

const LEASES: endpoints::GroupVersionResource = ("coordination.k8s.io", "v1", "leases");
const NAMESPACE: &str = "kube-system";
const NAME: &str = "kube-controller-manager";
/// Upstream's `--leader-elect-lease-duration` and `--leader-elect-renew-deadline`.
const DURATION: Duration = Duration::from_secs(15);
const RENEW_DEADLINE: Duration = Duration::from_secs(10);
/// How often the lease is renewed. Upstream renews it every 2 seconds, over a network; each renewal
/// is a write.
const RENEW_INTERVAL: Duration = Duration::from_secs(5);
/// The delay after a failed request (upstream: `--leader-elect-retry-period`).
const RETRY: Duration = Duration::from_secs(2);

/// A candidate for the lease.
pub struct Election {
    loopback: Loopback,
    leases: Arc<ResourceStore>,
    clock: Arc<dyn Clock>,
    /// The identity of this process.
    id: String,
    /// The beginning of the identities of earlier processes with this store, if it is certain that
    /// they have ended.
    ended: Option<String>,
    observed: Option<Observed>,
}

/// The last state of the lease, and when it was first seen.
struct Observed {
    spec: LeaseSpec,
    at: Instant,
}

impl Election {
    /// Creates a candidate. `host` names this server among those of the cluster; with
    /// `owns_store`, no other process has the store open.
    pub fn new(
        loopback: Loopback,
        leases: Arc<ResourceStore>,
        clock: Arc<dyn Clock>,
        host: &str,
        owns_store: bool,
    ) -> Self {
        let prefix = format!("{host}_");
        let id = format!("{prefix}{}", uuid::Uuid::new_v4());
        Election { loopback, leases, clock, id, ended: owns_store.then_some(prefix), observed: None }
    }

    /// Tries to get the lease; returns whether this process holds it.
    ///
    /// # Errors
    /// The lease cannot be read or written.
    pub async fn try_acquire(&mut self) -> Result<bool, Status> {
        let Some(stored) = self.loopback.get::<Lease>(LEASES, NAMESPACE, NAME).await? else {
            let mut lease = Lease::default();
            (lease.metadata.name, lease.metadata.namespace) = (NAME.into(), NAMESPACE.into());
            lease.spec = self.filled(None);
            return self.stored(self.loopback.create(LEASES, lease).await);
        };
        let seen = self.observed.as_ref().filter(|observed| observed.spec == stored.spec);
        let at = seen.map_or_else(Instant::now, |observed| observed.at);
        self.observed = Some(Observed { spec: stored.spec.clone(), at });
        if self.is_held_by_other() {
            return Ok(false);
        }
        let spec = self.filled(Some(&stored.spec));
        self.stored(self.loopback.update(LEASES, Lease { spec, ..stored }).await)
    }

    /// Waits until the lease is free, then gets it.
    pub async fn acquire(&mut self) {
        let mut changes: Option<WatchStream> = None;
        loop {
            match self.try_acquire().await {
                Ok(true) => return,
                Ok(false) => {}
                Err(status) => {
                    tracing::warn!(why = status.message, "cannot read or write the lease of controllers; retrying");
                    tokio::time::sleep(RETRY).await;
                    continue;
                }
            }
            let expiry = self.observed.as_ref().map_or_else(Instant::now, Observed::expiry);
            match &mut changes {
                // The lease expires, or it changes, or the watch ends and is started again.
                Some(stream) => match tokio::time::timeout_at(expiry, stream.next()).await {
                    Ok(Some(Ok(_))) | Err(_) => {}
                    Ok(_) => changes = None,
                },
                None => match self.watch().await {
                    Ok(stream) => changes = Some(stream),
                    Err(_) => tokio::time::sleep(RETRY).await,
                },
            }
        }
    }

    /// Renews the lease until another process has it, or it could not be renewed in time.
    pub async fn hold(&mut self) {
        let mut renewed = Instant::now();
        loop {
            tokio::time::sleep(RENEW_INTERVAL).await;
            let deadline = renewed + RENEW_DEADLINE;
            let renewal = async {
                loop {
                    match self.try_acquire().await {
                        Ok(is_held) => return is_held,
                        Err(status) => {
                            tracing::warn!(why = status.message, "cannot renew the lease of controllers; retrying");
                            tokio::time::sleep(RETRY).await;
                        }
                    }
                }
            };
            match tokio::time::timeout_at(deadline, renewal).await {
                Ok(true) => renewed = Instant::now(),
                Ok(false) | Err(_) => return,
            }
        }
    }

    /// Releases the lease if this process holds it (upstream: `LeaderElector.release`).
    ///
    /// # Errors
    /// The lease cannot be read or written.
    pub async fn release(&self) -> Result<(), Status> {
        let Some(mut lease) = self.loopback.get::<Lease>(LEASES, NAMESPACE, NAME).await? else { return Ok(()) };
        if lease.spec.holder_identity.as_ref() != Some(&self.id) {
            return Ok(());
        }
        let now = self.clock.micro_now();
        let transitions = lease.spec.lease_transitions;
        lease.spec = LeaseSpec {
            holder_identity: Some(String::new()),
            lease_duration_seconds: Some(1),
            renew_time: Some(now),
            acquire_time: Some(now),
            lease_transitions: transitions,
            ..LeaseSpec::default()
        };
        self.loopback.update(LEASES, lease).await.map(drop)
    }

    /// The identity of the current holder; empty if there is none.
    pub fn holder(&self) -> &str {
        self.observed.as_ref().map_or("", |observed| observed.holder())
    }

    async fn watch(&self) -> Result<WatchStream, Status> {
        let query = ListQuery { resource_version: self.leases.revision().to_string(), ..ListQuery::default() };
        self.leases.watch(NAMESPACE, &events::named(NAME)?, &query, false, Some(false)).await
    }

    fn is_held_by_other(&self) -> bool {
        let Some(observed) = &self.observed else { return false };
        let holder = observed.holder();
        let has_ended = self.ended.as_ref().is_some_and(|prefix| holder.starts_with(prefix));
        !holder.is_empty() && holder != self.id && !has_ended && Instant::now() < observed.expiry()
    }

    /// The lease with this process as its holder.
    fn filled(&self, old: Option<&LeaseSpec>) -> LeaseSpec {
        let now = self.clock.micro_now();
        let is_renewal = old.is_some_and(|old| old.holder_identity.as_ref() == Some(&self.id));
        let transitions = old.map_or(0, |old| old.lease_transitions.unwrap_or(0) + i32::from(!is_renewal));
        let acquired = old.filter(|_| is_renewal).and_then(|old| old.acquire_time);
        LeaseSpec {
            holder_identity: Some(self.id.clone()),
            lease_duration_seconds: i32::try_from(DURATION.as_secs()).ok(),
            acquire_time: acquired.or(Some(now)),
            renew_time: Some(now),
            lease_transitions: Some(transitions),
            ..LeaseSpec::default()
        }
    }

    /// Remembers the lease that was written. A conflict means that another process wrote it.
    fn stored(&mut self, written: Result<Lease, Status>) -> Result<bool, Status> {
        match written {
            Ok(lease) => {
                self.observed = Some(Observed { spec: lease.spec, at: Instant::now() });
                Ok(true)
            }
            Err(status) if status.code == 409 => Ok(false),
            Err(status) => Err(status),
        }
    }
}

impl Observed {
    fn holder(&self) -> &str {
        self.spec.holder_identity.as_deref().unwrap_or_default()
    }

    /// When the lease expires unless it changes.
    fn expiry(&self) -> Instant {
        let seconds = self.spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        self.at + Duration::from_secs(seconds.unwrap_or(0))
    }
}
