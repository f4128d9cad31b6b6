//! The lease by which servers of one cluster know of each other (upstream: `start-kube-apiserver-identity-lease-controller` and its garbage
//! collector).

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use endpoints::{Loopback, Resource, ServerContext};
use generated::coordination::v1::Lease;
use machinery::features;
use machinery::scalar::{MicroTime, Time};
use machinery::status::Status;
use registry::Informer;
use serving::identity;
use tokio::time::Instant;

use crate::aggregation::join;
use crate::{leases, peers};

/// The resource.
pub const LEASES: Resource = ("coordination.k8s.io", "v1", "leases");
/// Where the leases of servers are.
pub const NAMESPACE: &str = "kube-system";
const IDENTITY: &str = "apiserver.kubernetes.io/identity";
const OURS: &str = "kube-apiserver";
const HOSTNAME: &str = "kubernetes.io/hostname";
const PEER_ADDRESS: &str = "kubernetes.io/peer-advertise-address";
/// How long a server counts as alive after it was last heard of, in seconds.
const DURATION: i32 = 3600;
/// How often it is heard of.
const RENEW: Duration = Duration::from_secs(10);
/// How often leases of servers that are gone are cleared away.
const COLLECT: Duration = Duration::from_secs(3600);

/// Takes the lease, and keeps it.
pub async fn start(environment: &Arc<ServerContext>, loopback: &Arc<Loopback>) -> Result<(), Status> {
    if !environment.options.features.enabled(features::APIServerIdentity) || !loopback.serves(LEASES) {
        return Ok(());
    }
    let holder = Arc::new(Holder::new(environment, loopback.clone()));
    // What is left of a run before tells others nothing of this one (upstream: `lease.Controller.Start`).
    holder.leave().await?;
    holder.renew().await?;
    let leases = environment.informers.of::<Lease>(LEASES.0, LEASES.2);
    let keeping = tokio::spawn(holder.clone().follow(leases));
    leases::until_shutdown(environment, "identity lease", keeping, async move { holder.leave().await });
    Ok(())
}

/// Whether a lease is that of an API server of the cluster.
pub fn is_of_server(lease: &Lease) -> bool {
    lease.metadata.labels.get(IDENTITY).is_some_and(|of| of == OURS)
}

/// This server.
struct Holder {
    loopback: Arc<Loopback>,
    /// The name of the lease: that of the host, so that a server that begins again takes its lease again.
    name: String,
    /// The same for this run.
    id: String,
    hostname: String,
    address: Option<String>,
}

impl Holder {
    fn new(environment: &ServerContext, loopback: Arc<Loopback>) -> Self {
        let options = &environment.options;
        let hostname = options.serving.hostname.clone();
        let name = identity::of_host(&hostname);
        let id = format!("{name}_{}", uuid::Uuid::new_v4());
        let place = peers::place(options).filter(|_| options.peers.enabled);
        Holder { loopback, name, id, hostname, address: place.map(|(host, port)| join(&host, port.into())) }
    }

    async fn follow(self: Arc<Self>, leases: Option<Informer<Lease>>) {
        let mut collected = Instant::now();
        loop {
            tokio::time::sleep(RENEW).await;
            if let Err(status) = self.renew().await {
                tracing::warn!(why = status.message, "renewing the lease of this server");
            }
            if let Some(leases) = leases.as_ref().filter(|_| collected.elapsed() > COLLECT) {
                self.collect(leases).await;
                collected = Instant::now();
            }
        }
    }

    /// Creates the lease, or says that this server still lives.
    async fn renew(&self) -> Result<(), Status> {
        let renewed = match self.loopback.get::<Lease>(LEASES, NAMESPACE, &self.name).await? {
            None => self.loopback.create(LEASES, self.fill(Lease::default())).await,
            Some(lease) => self.loopback.update(LEASES, self.fill(lease)).await,
        };
        match renewed {
            // Another server of this name was faster; the next round is ours.
            Err(status) if status.code == 409 => Ok(()),
            renewed => renewed.map(drop),
        }
    }

    fn fill(&self, mut lease: Lease) -> Lease {
        let metadata = &mut lease.metadata;
        metadata.name.clone_from(&self.name);
        metadata.namespace = NAMESPACE.into();
        metadata.labels.extend([(IDENTITY.into(), OURS.into()), (HOSTNAME.into(), self.hostname.clone())]);
        metadata.annotations.extend(self.address.clone().map(|address| (PEER_ADDRESS.to_owned(), address)));
        lease.spec.holder_identity = Some(self.id.clone());
        lease.spec.lease_duration_seconds = Some(DURATION);
        lease.spec.renew_time = Some(MicroTime::from(SystemTime::now()));
        lease
    }

    /// Takes the lease back: others are not to count on this server.
    async fn leave(&self) -> Result<(), Status> {
        self.loopback.delete(LEASES, NAMESPACE, &self.name).await
    }

    /// Clears leases of servers away that have not been heard of in time.
    async fn collect(&self, leases: &Informer<Lease>) {
        let now = Time::from(SystemTime::now()).unix();
        for lease in leases.in_namespace(NAMESPACE) {
            if is_of_server(&lease) && expired(&lease, now) {
                // The next round tries again.
                let _ = self.loopback.delete(LEASES, NAMESPACE, &lease.metadata.name).await;
            }
        }
    }
}

/// Whether nobody renewed a lease in time; one that says nothing of time is nobody's (`isLeaseExpired`).
fn expired(lease: &Lease, now: i64) -> bool {
    match (lease.spec.renew_time, lease.spec.lease_duration_seconds) {
        (Some(renewed), Some(duration)) => renewed.unix_micros() / 1_000_000 + i64::from(duration) < now,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases_expire() {
        let mut lease = Lease::default();
        assert!(expired(&lease, 0));
        lease.spec.renew_time = Some(MicroTime::from_unix_micros(1_000_000_000));
        lease.spec.lease_duration_seconds = Some(60);
        assert!(!expired(&lease, 1060) && expired(&lease, 1061));
    }
}
