//! The lease of the controllers, `kube-system/kube-controller-manager`: controllers of one process
//! act at a time, here or in a kube-controller-manager (upstream: `client-go/tools/leaderelection`).
//!
//! As upstream, the times in the lease are not compared with the clock of this host. A lease counts
//! as expired when this process has not seen it change for its duration.
//!
//! A waiting kube-controller-manager ends the term of this program
//! (`docs/decisions/0010-lease-of-controllers.md`): the holder releases the lease, and the processes
//! of this program leave it free for a while. The request is an annotation of the lease, because
//! another process of this program than the holder may receive it.

use std::sync::Arc;
use std::time::Duration;

use endpoints::Loopback;
use generated::coordination::v1::{Lease, LeaseSpec};
use machinery::status::Status;
use registry::{Clock, ListQuery, ResourceStore, WatchStream};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::events;

/// The resource of leases.
pub const LEASES: endpoints::GroupVersionResource = ("coordination.k8s.io", "v1", "leases");
/// The namespace of the lease.
pub const NAMESPACE: &str = "kube-system";
/// The name of the lease.
pub const NAME: &str = "kube-controller-manager";
/// The annotation of a lease that a kube-controller-manager requests from a process of this program.
/// Its value is the `leaseTransitions` of the term that is to end, so it does not affect later terms.
const REQUESTED: &str = "controllers.kube-apiserver/requested-term";
/// The beginning of the identities of processes of this program ([`options::identity::of_host`]).
const PROCESSES: &str = "apiserver-";
/// How long a released lease stays free for the kube-controller-manager that requested it. A waiting
/// one tries to take the lease every 2 to 4.4 seconds.
const RESERVED: Duration = Duration::from_secs(15);
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
    /// Notified when a kube-controller-manager requests the lease from this server.
    requests: Arc<Notify>,
}

/// The last state of the lease, and when it was first seen.
struct Observed {
    spec: LeaseSpec,
    /// The term that is to end.
    requested_term: Option<i32>,
    at: Instant,
}

/// Why a process does not hold the lease any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Another process has it, or it could not be renewed in time.
    Lost,
    /// A kube-controller-manager requests it. This process has it until it releases it.
    Requested,
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
        let (ended, requests) = (owns_store.then_some(prefix), Arc::new(Notify::new()));
        Election { loopback, leases, clock, id, ended, observed: None, requests }
    }

    /// What is notified when a kube-controller-manager requests the lease from this server.
    pub fn requests(&self) -> Arc<Notify> {
        self.requests.clone()
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
        self.observe(&stored);
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
                Some(stream) => tokio::select! {
                    change = tokio::time::timeout_at(expiry, stream.next()) => match change {
                        Ok(Some(Ok(_))) | Err(_) => {}
                        Ok(_) => changes = None,
                    },
                    () = self.requests.notified() => self.forward_request().await,
                },
                None => match self.watch().await {
                    Ok(stream) => changes = Some(stream),
                    Err(_) => tokio::time::sleep(RETRY).await,
                },
            }
        }
    }

    /// Renews the lease until it is lost or requested.
    pub async fn hold(&mut self) -> End {
        let mut renewed = Instant::now();
        loop {
            if self.observed.as_ref().is_some_and(Observed::is_requested) {
                return End::Requested;
            }
            tokio::select! {
                () = tokio::time::sleep(RENEW_INTERVAL) => {}
                () = self.requests.notified() => return End::Requested,
            }
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
                Ok(false) | Err(_) => return End::Lost,
            }
        }
    }

    /// Releases the lease if this process holds it (upstream: `LeaderElector.release`).
    ///
    /// # Errors
    /// The lease cannot be read or written.
    pub async fn release(&self) -> Result<(), Status> {
        self.release_with(|_| {}).await
    }

    /// Releases the lease, and reserves it for the kube-controller-manager that requests it.
    ///
    /// # Errors
    /// The lease cannot be read or written.
    pub async fn release_to_candidate(&self) -> Result<(), Status> {
        self.release_with(request_term).await
    }

    async fn release_with(&self, change: impl Fn(&mut Lease)) -> Result<(), Status> {
        let Some(mut lease) = self.loopback.get::<Lease>(LEASES, NAMESPACE, NAME).await? else { return Ok(()) };
        if lease.spec.holder_identity.as_ref() != Some(&self.id) {
            return Ok(());
        }
        change(&mut lease);
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

    /// Forwards requests of kube-controller-managers, as a process that is no candidate itself.
    pub async fn forward_requests(&mut self) {
        loop {
            self.requests.notified().await;
            match self.loopback.get::<Lease>(LEASES, NAMESPACE, NAME).await {
                Ok(Some(stored)) => {
                    self.observe(&stored);
                    self.forward_request().await;
                }
                Ok(None) => {}
                Err(status) => tracing::warn!(why = status.message, "cannot read the lease of controllers"),
            }
        }
    }

    /// Forwards a request to the holder, if that is a process of this program.
    async fn forward_request(&self) {
        let Some(observed) = &self.observed else { return };
        if !observed.holder().starts_with(PROCESSES) || observed.is_requested() {
            return;
        }
        if let Err(status) = self.write_request(observed.holder()).await {
            tracing::warn!(why = status.message, "cannot forward the request for the lease of controllers");
        }
    }

    async fn write_request(&self, holder: &str) -> Result<(), Status> {
        let Some(mut lease) = self.loopback.get::<Lease>(LEASES, NAMESPACE, NAME).await? else { return Ok(()) };
        if lease.spec.holder_identity.as_deref() != Some(holder) {
            return Ok(());
        }
        request_term(&mut lease);
        self.loopback.update(LEASES, lease).await.map(drop)
    }

    /// Remembers the state of the lease, and since when it has been this one.
    fn observe(&mut self, stored: &Lease) {
        let requested_term = requested_term(stored);
        let is_same = |known: &&Observed| known.spec == stored.spec && known.requested_term == requested_term;
        let at = self.observed.as_ref().filter(is_same).map_or_else(Instant::now, |known| known.at);
        self.observed = Some(Observed { spec: stored.spec.clone(), requested_term, at });
    }

    async fn watch(&self) -> Result<WatchStream, Status> {
        let query = ListQuery { resource_version: self.leases.revision().to_string(), ..ListQuery::default() };
        self.leases.watch(NAMESPACE, &events::named(NAME)?, &query, false, Some(false)).await
    }

    fn is_held_by_other(&self) -> bool {
        let Some(observed) = &self.observed else { return false };
        let holder = observed.holder();
        let has_ended = self.ended.as_ref().is_some_and(|prefix| holder.starts_with(prefix));
        holder != self.id && !has_ended && Instant::now() < observed.expiry()
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
                self.observe(&lease);
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

    /// Whether the current term, or the last one, was requested to end.
    fn is_requested(&self) -> bool {
        self.requested_term.is_some_and(|term| term == self.spec.lease_transitions.unwrap_or(0))
    }

    /// When a process of this program may take the lease unless it changes.
    fn expiry(&self) -> Instant {
        if self.holder().is_empty() {
            return if self.is_requested() { self.at + RESERVED } else { self.at };
        }
        let seconds = self.spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        self.at + Duration::from_secs(seconds.unwrap_or(0))
    }
}

/// The term of a lease that a kube-controller-manager requests to end.
fn requested_term(lease: &Lease) -> Option<i32> {
    lease.metadata.annotations.get(REQUESTED)?.parse().ok()
}

/// Requests the end of the current term of a lease.
fn request_term(lease: &mut Lease) {
    let term = lease.spec.lease_transitions.unwrap_or(0);
    lease.metadata.annotations.insert(REQUESTED.into(), term.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(holder: &str, term: i32, requested: Option<i32>) -> Observed {
        let mut lease = Lease::default();
        if let Some(requested) = requested {
            lease.metadata.annotations.insert(REQUESTED.into(), requested.to_string());
        }
        let spec = LeaseSpec {
            holder_identity: Some(holder.into()),
            lease_duration_seconds: Some(1),
            lease_transitions: Some(term),
            ..LeaseSpec::default()
        };
        Observed { spec, requested_term: requested_term(&lease), at: Instant::now() }
    }

    #[test]
    fn lease_is_reserved_only_after_the_term_that_was_requested() {
        let waits = |observed: &Observed| observed.expiry() - observed.at;
        assert_eq!(waits(&observed("", 3, Some(3))), RESERVED);
        assert_eq!(waits(&observed("", 3, Some(2))), Duration::ZERO, "an earlier term was requested");
        assert_eq!(waits(&observed("", 3, None)), Duration::ZERO);
        assert_eq!(waits(&observed("a", 3, Some(3))), Duration::from_secs(1));
    }

    #[test]
    fn request_names_the_current_term() {
        let mut lease = Lease::default();
        lease.spec.lease_transitions = Some(7);
        lease.metadata.annotations.insert(REQUESTED.into(), "made up".into());
        assert_eq!(requested_term(&lease), None);
        request_term(&mut lease);
        assert_eq!(requested_term(&lease), Some(7));
    }
}
