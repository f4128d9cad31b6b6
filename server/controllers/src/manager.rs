//! Starts the selected controllers when this process has the lease, and stops them when it loses it
//! (upstream: `app.Run`).

use std::sync::Arc;
use std::time::Duration;

use endpoints::RunningServer;
use futures_util::future::BoxFuture;
use machinery::status::Status;
use options::{StorageOptions, identity};
use request::Handler;
use serving::shutdown::Phase;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::context::Context;
use crate::election::{Election, End};
use crate::lease_requests::WithLeaseRequests;
use crate::{
    aggregated_roles, certificates, finished_jobs, garbage, legacy_tokens, namespaces, policy_types, quotas, root_ca,
    service_accounts, services, storage_migration, unscheduled_pods, volume_protection,
};

/// How long the start of the server waits for the first round of controllers.
const FIRST_ROUND: Duration = Duration::from_secs(5);
/// The controllers whose first round the start waits for: clients expect their objects in each
/// namespace.
const AWAITED: [&str; 2] = ["root-ca-certificate-publisher-controller", "serviceaccount-controller"];
/// How long the release of the lease may take when the server stops.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

/// A controller.
struct Controller {
    /// Upstream's canonical name.
    name: &'static str,
    /// Its service account in `kube-system`.
    account: &'static str,
    /// Works until it is dropped. It fails if the server lacks what it needs.
    run: fn(Context) -> BoxFuture<'static, Result<(), Status>>,
}

/// The controllers of this program.
static CONTROLLERS: &[Controller] = &[
    Controller {
        name: "certificatesigningrequest-approving-controller",
        account: "certificate-controller",
        run: |context| Box::pin(certificates::run_approver(context)),
    },
    Controller {
        name: "certificatesigningrequest-cleaner-controller",
        account: "certificate-controller",
        run: |context| Box::pin(certificates::run_cleaner(context)),
    },
    Controller {
        name: "certificatesigningrequest-signing-controller",
        account: "certificate-controller",
        run: |context| Box::pin(certificates::run_signer(context)),
    },
    Controller {
        name: "clusterrole-aggregation-controller",
        account: "clusterrole-aggregation-controller",
        run: |context| Box::pin(aggregated_roles::run(context)),
    },
    Controller {
        name: "endpoints-controller",
        account: "endpoint-controller",
        run: |context| Box::pin(services::endpoints::run(context)),
    },
    Controller {
        name: "endpointslice-controller",
        account: "endpointslice-controller",
        run: |context| Box::pin(services::slices::run(context)),
    },
    Controller {
        name: "endpointslice-mirroring-controller",
        account: "endpointslicemirroring-controller",
        run: |context| Box::pin(services::mirroring::run(context)),
    },
    Controller {
        name: "garbage-collector-controller",
        account: "generic-garbage-collector",
        run: |context| Box::pin(garbage::run(context)),
    },
    Controller {
        name: "legacy-serviceaccount-token-cleaner-controller",
        account: "legacy-service-account-token-cleaner",
        run: |context| Box::pin(legacy_tokens::run(context)),
    },
    Controller {
        name: "namespace-controller",
        account: "namespace-controller",
        run: |context| Box::pin(namespaces::run(context)),
    },
    Controller {
        name: "persistentvolume-protection-controller",
        account: "pv-protection-controller",
        run: |context| Box::pin(volume_protection::run_for_volumes(context)),
    },
    Controller {
        name: "persistentvolumeclaim-protection-controller",
        account: "pvc-protection-controller",
        run: |context| Box::pin(volume_protection::run_for_claims(context)),
    },
    Controller {
        name: "resourcequota-controller",
        account: "resourcequota-controller",
        run: |context| Box::pin(quotas::run(context)),
    },
    Controller {
        name: "root-ca-certificate-publisher-controller",
        account: "root-ca-cert-publisher",
        run: |context| Box::pin(root_ca::run(context)),
    },
    Controller {
        name: "serviceaccount-controller",
        account: "service-account-controller",
        run: |context| Box::pin(service_accounts::run(context)),
    },
    Controller {
        name: "storage-version-migrator-controller",
        account: "storage-version-migrator-controller",
        run: |context| Box::pin(storage_migration::run(context)),
    },
    Controller {
        name: "ttl-after-finished-controller",
        account: "ttl-after-finished-controller",
        run: |context| Box::pin(finished_jobs::run(context)),
    },
    Controller {
        name: "unscheduled-pod-controller",
        account: "unscheduled-pod-controller",
        run: |context| Box::pin(unscheduled_pods::run(context)),
    },
    Controller {
        name: "validatingadmissionpolicy-status-controller",
        account: "validatingadmissionpolicy-status-controller",
        run: |context| Box::pin(policy_types::run(context)),
    },
];

/// Starts the controllers that the flags select. Returns when they have acted on what exists, or
/// another process has the lease. The returned handler recognizes requests for the lease.
pub async fn start(server: RunningServer) -> Arc<dyn Handler> {
    let server = Arc::new(server);
    let options = &server.environment.options.controllers;
    let enabled: Vec<&'static Controller> = CONTROLLERS.iter().filter(|known| options.runs(known.name)).collect();
    let Some(election) = election(&server) else {
        tracing::warn!("leases are not served, so no controllers run");
        return server.handler.clone();
    };
    let authorizer = server.environment.access.authorizer.clone();
    let handler = WithLeaseRequests::new(server.handler.clone(), authorizer, election.requests());
    if enabled.is_empty() {
        tracing::info!("no controllers run in this program (--controllers); kube-controller-manager has them");
        tokio::spawn(forward_requests(election, server));
        return Arc::new(handler);
    }
    let running = enabled.iter().map(|known| known.name).collect::<Vec<_>>().join(",");
    let others = options.others().collect::<Vec<_>>().join(",");
    tracing::info!(running, others, "controllers of this program, and those that only kube-controller-manager has");
    let mut manager = Manager { server, election, controllers: enabled, running: JoinSet::new() };
    let (first_round, mut is_done) = mpsc::channel(1);
    match manager.election.try_acquire().await {
        Ok(true) => manager.lead(&first_round),
        Ok(false) => tracing::info!(holder = manager.election.holder(), "controllers stand by for the lease"),
        Err(status) => tracing::warn!(why = status.message, "cannot read or write the lease of controllers"),
    }
    drop(first_round);
    tokio::spawn(manager.run());
    // Ends when all senders are dropped; none sends.
    let _ = tokio::time::timeout(FIRST_ROUND, is_done.recv()).await;
    Arc::new(handler)
}

/// The election of this process; `None` if leases are not served.
fn election(server: &RunningServer) -> Option<Election> {
    let environment = &server.environment;
    let leases = environment.stores.get(&("coordination.k8s.io", "leases"))?.clone();
    let loopback = server.loopback.managed_by("kube-controller-manager");
    let host = identity::of_host(&environment.options.serving.hostname);
    let owns_store = owns_store(&environment.options.storage);
    Some(Election::new(loopback, leases, environment.backend.clock.clone(), &host, owns_store))
}

/// Forwards requests for the lease to other servers of the cluster, whose controllers may have it.
async fn forward_requests(mut election: Election, server: Arc<RunningServer>) {
    tokio::select! {
        () = election.forward_requests() => {}
        () = server.environment.shutdown.reached(Phase::Initiated) => {}
    }
}

/// Whether no other process has the store open. A served store has further API servers, perhaps on
/// this host, whose identities begin alike.
fn owns_store(storage: &StorageOptions) -> bool {
    storage.etcd.servers.is_empty() && storage.listen.urls.is_empty()
}

/// The controllers of a process, which run while it has the lease.
struct Manager {
    server: Arc<RunningServer>,
    election: Election,
    controllers: Vec<&'static Controller>,
    /// The running controllers; they end when this is dropped.
    running: JoinSet<()>,
}

impl Manager {
    /// Starts the controllers.
    fn lead(&mut self, first_round: &mpsc::Sender<()>) {
        let services = Arc::default();
        for controller in &self.controllers {
            // The sender of another controller would stay open as long as it runs.
            let first_round = AWAITED.contains(&controller.name).then(|| first_round.clone());
            let context = Context::new(self.server.clone(), Arc::clone(&services), controller.account, first_round);
            let work = (controller.run)(context);
            let name = controller.name;
            self.running.spawn(async move {
                if let Err(status) = work.await {
                    tracing::warn!(controller = name, why = status.message, "a controller cannot run");
                }
            });
        }
    }

    /// Follows the lease until the server stops.
    async fn run(mut self) {
        let shutdown = self.server.environment.shutdown.clone();
        // The listener stays open until the lease is released.
        let task = shutdown.enter();
        tokio::select! {
            () = self.follow() => {}
            () = shutdown.reached(Phase::Initiated) => {}
        }
        self.running.shutdown().await;
        match tokio::time::timeout(RELEASE_TIMEOUT, self.election.release()).await {
            Ok(Ok(())) => {}
            Ok(Err(status)) => tracing::warn!(why = status.message, "cannot release the lease of controllers"),
            Err(_) => tracing::warn!("releasing the lease of controllers timed out"),
        }
        drop(task);
    }

    async fn follow(&mut self) {
        loop {
            if self.running.is_empty() {
                self.election.acquire().await;
                tracing::info!("acquired the lease of controllers");
                self.lead(&mpsc::channel(1).0);
            }
            let end = self.election.hold().await;
            self.running.shutdown().await;
            match end {
                End::Lost => {
                    tracing::warn!(holder = self.election.holder(), "lost the lease of controllers; standing by");
                }
                End::Requested => match self.election.release_to_candidate().await {
                    Ok(()) => {
                        tracing::info!("a kube-controller-manager requests the lease of controllers; standing by")
                    }
                    Err(status) => tracing::warn!(why = status.message, "cannot release the lease of controllers"),
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use options::Options;

    use super::*;

    #[test]
    fn stores_of_other_processes_are_not_owned() {
        let owns = |flags: &[&str]| {
            let all = ["kube-apiserver"].iter().chain(flags);
            owns_store(&Options::parse_from(all).unwrap().storage)
        };
        assert!(owns(&[]));
        assert!(!owns(&["--etcd-servers=http://127.0.0.1:1"]));
        assert!(!owns(&["--etcd-listen-client-urls=http://127.0.0.1:1"]), "a served store has further servers");
    }
}
