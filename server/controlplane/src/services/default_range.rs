//! The default ServiceCIDR with the ranges of `--service-cluster-ip-range`
//! (`defaultservicecidr.Controller`).

use std::sync::Arc;
use std::time::Duration;

use apimachinery::meta::v1::{condition_status, status_reason};
use endpoints::Loopback;
use generated::networking::v1::ServiceCIDR;
use machinery::status::Status;
use options::Cidr;
use registry::{Clock, Informer, Informers};
use serde_json::json;
use serving::shutdown::{Phase, Shutdown};

use super::ip_allocator::{DEFAULT_RANGE as NAME, READY, SERVICE_CIDRS};

/// The field manager of the condition.
const MANAGER: &str = "kubernetes-service-cidr-controller";
/// The interval of checks and of retries of the creation.
const INTERVAL: Duration = Duration::from_secs(10);

/// Creates the ServiceCIDR and starts its reconciliation.
///
/// # Errors
/// When the ServiceCIDR can be neither read nor created.
pub async fn start(
    ranges: &[Cidr],
    clock: &Arc<dyn Clock>,
    informers: &Informers,
    shutdown: &Shutdown,
    loopback: &Arc<Loopback>,
) -> Result<(), Status> {
    let ranges: Vec<String> = ranges.iter().map(|range| range.to_string()).collect();
    if ranges.is_empty() || !loopback.serves(SERVICE_CIDRS) {
        return Ok(());
    }
    let mut reconciler =
        Reconciler { loopback: loopback.clone(), clock: clock.clone(), ranges, is_mismatch_reported: false };
    reconciler.reconcile().await?;
    let Some(informer) = informers.of::<ServiceCIDR>(SERVICE_CIDRS.0, SERVICE_CIDRS.2) else {
        return Ok(());
    };
    let shutdown = shutdown.clone();
    tokio::spawn(async move {
        tokio::select! {
            () = reconciler.run(informer) => {}
            () = shutdown.reached(Phase::Initiated) => {}
        }
    });
    Ok(())
}

/// Reconciles the ServiceCIDR.
struct Reconciler {
    loopback: Arc<Loopback>,
    clock: Arc<dyn Clock>,
    /// The ranges of the flag, the default family first.
    ranges: Vec<String>,
    is_mismatch_reported: bool,
}

impl Reconciler {
    async fn run(mut self, informer: Informer<ServiceCIDR>) {
        informer.synced().await;
        loop {
            tokio::time::sleep(INTERVAL).await;
            // The check reads the informer; the store is read only before a write.
            if informer.get("", NAME).is_some_and(|stored| self.is_complete(&stored)) {
                continue;
            }
            if let Err(status) = self.reconcile().await {
                tracing::error!(why = status.message, "cannot reconcile the default ServiceCIDR; retrying");
            }
        }
    }

    fn is_complete(&self, stored: &ServiceCIDR) -> bool {
        stored.spec.cidrs == self.ranges && stored.status.conditions.iter().any(|condition| condition.r#type == READY)
    }

    async fn reconcile(&mut self) -> Result<(), Status> {
        let Some(stored) = self.loopback.get::<ServiceCIDR>(SERVICE_CIDRS, "", NAME).await? else {
            let mut created = ServiceCIDR::default();
            created.metadata.name = NAME.into();
            created.spec.cidrs.clone_from(&self.ranges);
            return match self.loopback.create(SERVICE_CIDRS, created).await {
                Ok(created) => self.reconcile_condition(&created).await,
                // Another server was faster and also writes the condition.
                Err(status) if status.reason == status_reason::ALREADY_EXISTS => Ok(()),
                Err(status) => Err(status),
            };
        };
        let gets_second_family =
            matches!((&self.ranges[..], &stored.spec.cidrs[..]), ([first, _], [one]) if first == one);
        if !gets_second_family {
            return self.reconcile_condition(&stored).await;
        }
        let mut changed = stored;
        changed.spec.cidrs.clone_from(&self.ranges);
        if let Err(status) = self.loopback.update(SERVICE_CIDRS, changed).await {
            tracing::error!(why = status.message, "cannot update the default ServiceCIDR to dual stack");
        }
        Ok(())
    }

    /// Sets the `Ready` condition, unless it is already set or the ranges differ from the flag
    /// (`syncStatus`).
    async fn reconcile_condition(&mut self, stored: &ServiceCIDR) -> Result<(), Status> {
        if stored.metadata.deletion_timestamp.is_some() {
            return Ok(());
        }
        if stored.spec.cidrs != self.ranges {
            if !std::mem::replace(&mut self.is_mismatch_reported, true) {
                let (stored, flag) = (&stored.spec.cidrs, &self.ranges);
                tracing::warn!(?stored, ?flag, "the default ServiceCIDR does not match --service-cluster-ip-range");
            }
            return Ok(());
        }
        let ready = stored.status.conditions.iter().find(|condition| condition.r#type == READY);
        if ready.is_some_and(|ready| ready.status != condition_status::UNKNOWN) {
            return Ok(());
        }
        let condition = json!({
            "type": READY,
            "status": condition_status::TRUE,
            "message": "Kubernetes default Service CIDR is ready",
            "lastTransitionTime": self.clock.now().to_string(),
        });
        let status = json!({ "conditions": [condition] });
        self.loopback.apply_status(SERVICE_CIDRS, NAME, MANAGER, status).await
    }
}
