//! The identity lease of this server (upstream: `start-kube-apiserver-identity-lease-controller`
//! and its garbage collector).

use std::sync::Arc;
use std::time::Duration;

use endpoints::{GroupVersionResource, Loopback};
use generated::coordination::v1::Lease;
use machinery::features;
use machinery::status::Status;
use options::Options;
use options::identity;
use registry::{Clock, Informer, Informers};
use serving::shutdown::Shutdown;
use tokio::time::Instant;

use crate::aggregation::join;
use crate::leases;
use crate::services::kubernetes;

/// The resource of leases.
pub const LEASES: GroupVersionResource = ("coordination.k8s.io", "v1", "leases");
/// The namespace of identity leases.
pub const NAMESPACE: &str = "kube-system";
const IDENTITY: &str = "apiserver.kubernetes.io/identity";
const KUBE_APISERVER: &str = "kube-apiserver";
const HOSTNAME: &str = "kubernetes.io/hostname";
const PEER_ADDRESS: &str = "kubernetes.io/peer-advertise-address";
/// The duration of the lease in seconds.
const DURATION: i32 = 3600;
/// The renewal interval.
const RENEW_INTERVAL: Duration = Duration::from_secs(10);
/// The interval of garbage collection of expired leases.
const COLLECT_INTERVAL: Duration = Duration::from_secs(3600);

/// Acquires the lease and starts its renewal.
pub async fn start(
    options: &Options,
    clock: &Arc<dyn Clock>,
    informers: &Informers,
    shutdown: &Shutdown,
    loopback: &Arc<Loopback>,
) -> Result<(), Status> {
    if !options.features.enabled(features::APIServerIdentity) || !loopback.serves(LEASES) {
        return Ok(());
    }
    let holder = Arc::new(Holder::new(options, clock.clone(), loopback.clone()));
    // A lease of a previous run does not describe this run (upstream: `lease.Controller.Start`).
    holder.release().await?;
    holder.renew().await?;
    let leases = informers.of::<Lease>(LEASES.0, LEASES.2);
    let renewal = tokio::spawn(holder.clone().follow(leases));
    leases::until_shutdown(shutdown, "identity lease", renewal, async move { holder.release().await });
    Ok(())
}

/// Whether a lease is the identity lease of an API server.
pub fn is_of_server(lease: &Lease) -> bool {
    lease.metadata.labels.get(IDENTITY).is_some_and(|of| of == KUBE_APISERVER)
}

/// The lease holder of this server.
struct Holder {
    loopback: Arc<Loopback>,
    clock: Arc<dyn Clock>,
    /// The name of the lease, derived from the hostname, so that a restarted server reuses its
    /// lease.
    name: String,
    /// The holder identity of this run.
    id: String,
    hostname: String,
    address: Option<String>,
}

impl Holder {
    fn new(options: &Options, clock: Arc<dyn Clock>, loopback: Arc<Loopback>) -> Self {
        let hostname = options.serving.hostname.clone();
        let name = identity::of_host(&hostname);
        let id = format!("{name}_{}", uuid::Uuid::new_v4());
        let advertised_address = advertised_address(options).filter(|_| options.peers.enabled);
        Holder {
            loopback,
            clock,
            name,
            id,
            hostname,
            address: advertised_address.map(|(host, port)| join(&host, port.into())),
        }
    }

    async fn follow(self: Arc<Self>, leases: Option<Informer<Lease>>) {
        let mut collected = Instant::now();
        loop {
            tokio::time::sleep(RENEW_INTERVAL).await;
            if let Err(status) = self.renew().await {
                tracing::warn!(why = status.message, "cannot renew the identity lease of this server; retrying");
            }
            if let Some(leases) = leases.as_ref().filter(|_| collected.elapsed() > COLLECT_INTERVAL) {
                self.collect(leases).await;
                collected = Instant::now();
            }
        }
    }

    /// Creates or renews the lease.
    async fn renew(&self) -> Result<(), Status> {
        let renewed = match self.loopback.get::<Lease>(LEASES, NAMESPACE, &self.name).await? {
            None => self.loopback.create(LEASES, self.fill(Lease::default())).await,
            Some(lease) => self.loopback.update(LEASES, self.fill(lease)).await,
        };
        match renewed {
            // Another server with this name was faster. The next round renews the lease.
            Err(status) if status.code == 409 => Ok(()),
            renewed => renewed.map(drop),
        }
    }

    fn fill(&self, mut lease: Lease) -> Lease {
        let metadata = &mut lease.metadata;
        metadata.name.clone_from(&self.name);
        metadata.namespace = NAMESPACE.into();
        metadata.labels.extend([(IDENTITY.into(), KUBE_APISERVER.into()), (HOSTNAME.into(), self.hostname.clone())]);
        metadata.annotations.extend(self.address.clone().map(|address| (PEER_ADDRESS.to_owned(), address)));
        lease.spec.holder_identity = Some(self.id.clone());
        lease.spec.lease_duration_seconds = Some(DURATION);
        lease.spec.renew_time = Some(self.clock.micro_now());
        lease
    }

    /// Deletes the lease, so that other servers do not rely on this server.
    async fn release(&self) -> Result<(), Status> {
        self.loopback.delete(LEASES, NAMESPACE, &self.name).await
    }

    /// Deletes expired identity leases.
    async fn collect(&self, leases: &Informer<Lease>) {
        let now = self.clock.now().unix();
        for lease in leases.in_namespace(NAMESPACE) {
            if is_of_server(&lease) && expired(&lease, now) {
                // The next round retries.
                let _ = self.loopback.delete(LEASES, NAMESPACE, &lease.metadata.name).await;
            }
        }
    }
}

/// Whether a lease has expired. A lease without times counts as expired (`isLeaseExpired`).
fn expired(lease: &Lease, now: i64) -> bool {
    match (lease.spec.renew_time, lease.spec.lease_duration_seconds) {
        (Some(renewed), Some(duration)) => renewed.unix_micros() / 1_000_000 + i64::from(duration) < now,
        _ => true,
    }
}

/// Returns the advertised host and port of this server, if it has an address that peers can reach.
pub fn advertised_address(options: &Options) -> Option<(String, u16)> {
    let port = options.serving.secure_port;
    options.peers.advertised.clone().or_else(|| Some((kubernetes::advertised_ip(options)?.to_string(), port)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases_expire() {
        let mut lease = Lease::default();
        assert!(expired(&lease, 0));
        lease.spec.renew_time = Some(machinery::scalar::MicroTime::from_unix_micros(1_000_000_000));
        lease.spec.lease_duration_seconds = Some(60);
        assert!(!expired(&lease, 1060) && expired(&lease, 1061));
    }
}
